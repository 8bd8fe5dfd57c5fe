//! The rules page: a new rule with a preview, amounts, and the order of rules, without scripts.

use http::StatusCode;
use service::classify::rules;
use service::insights;
use testkit::World;

use super::transactions::{household, id_of};
use super::{HOSTILE, assert_escaped};
use crate::browser::Browser;

#[tokio::test]
async fn a_new_rule_is_previewed_before_it_is_saved() {
    let world = World::new().await;
    let robin = household(&world).await;
    let mut browser = Browser::of(&world, &robin).await;
    let page =
        browser.get(&format!("/transactions/{}", id_of(&world, &robin, "KROGER").await)).await;
    assert!(page.good().contains("/settings/rules/new?merchant=Kroger"));
    let path = "/settings/rules/new";
    let page = browser.get(&format!("{path}?merchant=Kroger")).await.good();
    assert!(page.contains("New rule") && page.contains("value=\"Kroger\""), "{page}");
    let vet = ("category", "MEDICAL_VETERINARY_SERVICES");
    let draft = |least: &'static str, button: &'static str| {
        vec![
            ("like", "Kroger"),
            ("amount_least", least),
            ("amount_most", "50"),
            vet,
            ("do", button),
        ]
    };
    let page = browser.post(path, &draft("40", "preview")).await.good();
    for part in ["1 transaction matches", "1 of them would change", "Groceries becomes", "-$42.10"]
    {
        assert!(page.contains(part), "{part}: {page}");
    }
    assert!(rules::list(&world.app, &robin.caller).await.unwrap().is_empty());
    assert!(browser.post(path, &draft("43", "preview")).await.good().contains("0 transactions"));
    let page = browser.submit(path, &draft("40", "save")).await.good();
    let text =
        "Every transaction from <strong>Kroger</strong> of $40.00 to $50.00 is categorized as";
    assert!(page.contains("Rule saved") && page.contains(text), "{page}");
    let [older] = &rules::list(&world.app, &robin.caller).await.unwrap()[..] else { panic!() };
    // A rule with the same conditions replaces the older one, and names it before and after.
    let page = browser.post(path, &draft("40", "preview")).await.good();
    let replaces = "already have a rule with these conditions. Saving this one replaces it";
    assert!(page.contains(replaces) && page.contains(text), "{page}");
    assert!(page.contains(&format!("href=\"/settings/rules/{}\"", older.id)), "{page}");
    let page = browser.submit(path, &draft("40", "save")).await.good();
    let replaced = "It replaced this rule: Every transaction from Kroger of $40.00 to $50.00 is \
                    categorized as Vet.";
    assert!(page.contains(replaced), "{page}");
    // So do the forms of a transaction.
    let kroger = id_of(&world, &robin, "KROGER").await;
    let always = |category| [("category", category), ("always", "yes"), ("past", "yes")];
    let correct = format!("/transactions/{kroger}");
    let page = browser.submit(&correct, &always("TRAVEL_FLIGHTS")).await.good();
    assert!(page.contains("Saved.") && !page.contains("It replaced"), "{page}");
    let page = browser.submit(&correct, &always("MEDICAL_VETERINARY_SERVICES")).await.good();
    assert!(page.contains("It replaced your older rule for this merchant."), "{page}");
    insights::pipeline::run_all(&world.app).await.unwrap();
    let page = browser.get("/transactions?category=MEDICAL_VETERINARY_SERVICES").await.good();
    assert!(page.contains("KROGER"), "{page}");
    for (fields, message) in [
        (vec![vet], "Enter a merchant, words, an amount or an account"),
        (vec![("words", "x")], "Enter a name, choose a category"),
        (vec![("amount_least", "a lot"), vet], "Enter an amount such as"),
        (vec![("amount_least", "9"), ("amount_most", "5"), vet], "must not be negative or larger"),
        (vec![("words", "x"), ("account_id", "x"), vet], "Choose one of your accounts"),
    ] {
        let page = browser.post(path, &fields).await;
        assert_eq!(page.status, StatusCode::BAD_REQUEST, "{message}");
        assert!(page.text.contains(message), "{message}: {}", page.text);
    }
    // All errors are shown at once.
    let both = browser
        .post(path, &[("words", "x"), ("amount_least", "a lot"), ("amount_most", "?")])
        .await;
    assert_eq!(both.text.matches("Enter an amount such as").count(), 4, "{}", both.text);
    assert!(both.text.contains("Enter a name, choose a category"), "{}", both.text);
    let page = browser.post(path, &[("words", HOSTILE), vet, ("do", "preview")]).await.good();
    assert_escaped(&page);
}

#[tokio::test]
async fn rules_are_moved_by_buttons_and_only_by_their_owner() {
    let world = World::new().await;
    let robin = household(&world).await;
    let mut browser = Browser::of(&world, &robin).await;
    let rule = |words: &'static str| [("words", words), ("counterparty_name", "Somewhere")];
    for words in ["cafe", "kroger"] {
        browser.submit("/settings/rules/new", &rule(words)).await.good();
    }
    let order = async || {
        let rules = rules::list(&world.app, &robin.caller).await.unwrap();
        rules.into_iter().map(|it| it.words.unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(order().await, ["KROGER", "CAFE"]);
    let last = rules::list(&world.app, &robin.caller).await.unwrap()[1].id;
    let words = rules::list(&world.app, &robin.caller).await.unwrap()[1].words.clone().unwrap();
    let found = browser.get(&format!("/search?q={words}")).await.good();
    assert!(
        found.contains(&format!("href=\"/settings/rules/{last}\">Rule for {words}")),
        "{found}"
    );
    let page = browser.submit(&format!("/settings/rules/{last}/up"), &[]).await.good();
    assert!(page.contains("Order saved."), "{page}");
    assert_eq!(order().await, ["CAFE", "KROGER"]);
    browser.submit(&format!("/settings/rules/{last}/down"), &[]).await.good();
    assert_eq!(order().await, ["KROGER", "CAFE"]);
    let kim = household(&world).await;
    let mut other = Browser::of(&world, &kim).await;
    let refused = other.post(&format!("/settings/rules/{last}/up"), &[]).await;
    assert_eq!(refused.status, StatusCode::NOT_FOUND);
}
