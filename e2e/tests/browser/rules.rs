//! Rules, with and without scripts: a preview shows what would change before a rule is saved, a rule with the same
//! conditions replaces an older one, and the order decides which rule wins.

use e2e::{Browser, Program, until};

/// A monthly payment of the demo. Rules also apply to a pending one.
const SEARCH: &str = "/transactions?q=netflix";

/// How often the list shows this category.
fn count_in_list(browser: &Browser, category: &str) -> usize {
    browser.go(SEARCH);
    browser.sees("NETFLIX.COM");
    browser.text().matches(&format!("\t{category}\t")).count()
}

/// Reloads the list until all its transactions are in this category.
#[track_caller]
fn wait_for_category(browser: &Browser, category: &str, count: usize) {
    until(&format!("{count} transactions are in {category}"), || {
        (count_in_list(browser, category) == count).then_some(())
    });
}

/// Fills in a rule for everything with these words in its description.
fn fill_in_rule(browser: &Browser, words: &str, category: &str) {
    browser.go("/settings/rules");
    browser.follow("New rule");
    browser.fill("Words in the description", words);
    browser.choose("Category", category);
}

/// The rules of the list, each as the category that it sets, from the top.
fn order(browser: &Browser) -> Vec<String> {
    let text = browser.text();
    let parts = text.split("is categorized as ").skip(1);
    parts.map(|it| it.split('.').next().unwrap().to_owned()).collect()
}

fn check_order_decides(browser: &Browser) {
    let count = count_in_list(browser, "TV and movies");
    assert!(count > 3, "{}", browser.text());

    fill_in_rule(browser, "netflix", "Gifts");
    browser.press("Preview changes");
    let all = |what: &str| format!("{count} {what}");
    browser.sees(&all("transactions match. "));
    browser.sees(&all("of them would change."));
    browser.sees("TV and movies becomes Gifts");
    assert_eq!(count_in_list(browser, "Gifts"), 0, "a preview changes nothing");
    browser.go("/settings/rules");
    browser.sees("No rules yet");

    for (words, category) in [("netflix", "Gifts"), ("netflix.com", "Groceries")] {
        fill_in_rule(browser, words, category);
        browser.press("Save rule");
        browser.sees("Rule saved.");
    }
    // A newer rule is above the older one, so it wins.
    assert_eq!(order(browser), ["Groceries", "Gifts"]);
    wait_for_category(browser, "Groceries", count);

    // Only the lower of two can move up.
    browser.go("/settings/rules");
    browser.press("Move up the rule for NETFLIX");
    browser.sees("Order saved.");
    assert_eq!(order(browser), ["Gifts", "Groceries"]);
    wait_for_category(browser, "Gifts", count);
    // The preview knows the order: the rule below would change nothing.
    browser.go("/settings/rules");
    browser.follow("Edit rule for NETFLIX.COM");
    browser.press("Preview changes");
    browser.sees(&all("transactions match. 0 of them would change."));
}

/// A rule with the same conditions as an older one says that it replaces it, before it is saved and afterward.
fn check_replacement_is_announced(browser: &Browser) {
    fill_in_rule(browser, "netflix", "Vet");
    browser.press("Preview changes");
    browser.sees("You already have a rule with these conditions. Saving this one replaces it:");
    browser.sees("Every transaction with NETFLIX in the description is categorized as Gifts.");
    browser.follow("Edit that rule instead");
    browser.sees("Edit rule");
    fill_in_rule(browser, "netflix", "Vet");
    browser.press("Save rule");
    browser.sees(
        "It replaced this rule: Every transaction with NETFLIX in the description is categorized as Gifts.",
    );
    browser.go("/settings/rules");
    assert_eq!(order(browser), ["Vet", "Groceries"]);
}

#[test]
fn a_preview_changes_nothing_and_the_order_of_rules_decides() {
    let program = Program::demo();
    let browser = Browser::start(program.origin());
    browser.sign_in(&program);
    check_order_decides(&browser);
    check_replacement_is_announced(&browser);
    browser.assert_clean();
}

#[test]
fn rules_are_previewed_ordered_and_replaced_without_scripts() {
    let program = Program::demo();
    let browser = Browser::start(program.origin());
    browser.without_script();
    browser.sign_in(&program);
    check_order_decides(&browser);
    check_replacement_is_announced(&browser);
}
