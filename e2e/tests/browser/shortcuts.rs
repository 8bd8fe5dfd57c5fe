//! The search dialog, the help sheet, and keys that go to pages.

use e2e::input::key;
use e2e::{Browser, Program, until};
use serde_json::json;

/// The id of the open dialog, or nothing.
fn open_dialog(browser: &Browser) -> String {
    let open = browser.script("return document.querySelector('dialog:modal')?.id ?? ''", json!([]));
    open.as_str().unwrap().to_owned()
}

#[track_caller]
fn wait_for_dialog(browser: &Browser, id: &str) {
    until(&format!("the open dialog is {id:?}"), || (open_dialog(browser) == id).then_some(()));
}

fn open_and_close(browser: &Browser) {
    browser.go("/goals");
    browser.chord(key::CONTROL, 'k');
    wait_for_dialog(browser, "palette");
    browser.sees("Paper trading");
    browser.keys(key::ESCAPE);
    wait_for_dialog(browser, "");
    browser.keys("/");
    wait_for_dialog(browser, "palette");
    // Keys that are typed in the field are text, not shortcuts.
    browser.keys("gt?");
    browser.sees("Nothing found for “gt?”.");
    assert_eq!(open_dialog(browser), "palette");
    browser.keys(key::ESCAPE);
    wait_for_dialog(browser, "");
    browser.follow("Search");
    wait_for_dialog(browser, "palette");
    browser.keys(key::ESCAPE);
    wait_for_dialog(browser, "");
    browser.arrive("/goals");
}

/// Searches in the dialog, and opens a result with the arrow keys, then one with Enter alone.
fn search_and_go(browser: &Browser) {
    browser.keys("/");
    wait_for_dialog(browser, "palette");
    browser.keys("netflix");
    browser.sees("All matching transactions");
    browser.keys(key::DOWN);
    let focused = browser.script("return document.activeElement.innerText", json!([]));
    assert_eq!(focused, "Netflix");
    browser.keys(key::ENTER);
    // The recurring payment comes before its transactions.
    until("a payment is open", || browser.path().starts_with("/recurring/").then_some(()));
    browser.sees("Name, type and amount");

    browser.keys("/");
    wait_for_dialog(browser, "palette");
    browser.keys("create goal");
    until("the first result is the action", || {
        let first =
            browser.script("return document.querySelector('#palette a')?.innerText", json!([]));
        (first == "Create goal").then_some(())
    });
    browser.keys(key::ENTER);
    browser.arrive("/goals/new");
}

/// Does things from the dialog: each comes back to the page that it was opened on.
fn act(browser: &Browser) {
    let choose = |text: &str, first: &str| {
        browser.go("/accounts?status=all");
        browser.keys("/");
        wait_for_dialog(browser, "palette");
        browser.keys(text);
        until(&format!("the first result is {first}"), || {
            let script = "return document.querySelector('#palette [data-results] :is(a, button)')?.innerText";
            (browser.script(script, json!([])) == first).then_some(())
        });
        browser.keys(key::ENTER);
    };
    for (text, name) in [("hide am", "Hide amounts"), ("show am", "Show amounts")] {
        choose(text, name);
        until("the page is back", || (open_dialog(browser).is_empty()).then_some(()));
        browser.arrive("/accounts");
        let other = if name == "Hide amounts" { "Show amounts" } else { "Hide amounts" };
        assert!(browser.has_button(other), "{}", browser.text());
    }
    choose("dark th", "Use dark theme");
    until("the theme is dark", || {
        let theme = browser.script("return document.documentElement.dataset.theme", json!([]));
        (theme == "dark").then_some(())
    });
    choose("new ru", "New rule");
    browser.arrive("/settings/rules/new");
    choose("sign ou", "Sign out");
    browser.arrive("/sign-in");
}

/// Shows the help sheet, and tries the keys that it lists.
fn use_listed_keys(browser: &Browser) {
    browser.go("/");
    browser.keys("?");
    wait_for_dialog(browser, "shortcuts");
    browser.sees("Keyboard shortcuts");
    browser.keys(key::ESCAPE);
    wait_for_dialog(browser, "");
    browser.keys("?");
    wait_for_dialog(browser, "shortcuts");
    browser.press("Close");
    wait_for_dialog(browser, "");
    let listed = "return [...document.querySelectorAll('#shortcuts dl > div')]
        .map(it => [it.querySelector('kbd').textContent, it.querySelector('dd').textContent])
        .filter(([keys]) => keys.startsWith('g '))";
    let listed = browser.script(listed, json!([]));
    let listed = listed.as_array().unwrap();
    assert!(listed.len() > 5, "{listed:?}");
    for entry in listed {
        let [keys, what] = [&entry[0], &entry[1]].map(|it| it.as_str().unwrap());
        browser.go("/goals");
        browser.keys(&keys.replace(' ', ""));
        let page = what.strip_prefix("Go to ").unwrap();
        until(&format!("{keys} opens {page}"), || {
            let title = browser.script("return document.querySelector('h1').innerText", json!([]));
            (title.as_str()?.to_lowercase() == page).then_some(())
        });
    }
}

#[test]
fn shortcuts_search_help_and_go_to_pages() {
    let program = Program::demo();
    let browser = Browser::start(program.origin());
    browser.sign_in(&program);
    open_and_close(&browser);
    search_and_go(&browser);
    use_listed_keys(&browser);
    act(&browser);
    browser.assert_clean();
}
