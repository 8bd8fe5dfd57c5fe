//! Forms while amounts are hidden: they show dots, and saving the dots keeps the stored amounts.

use service::insights;
use service::insights::recurring::{self, Filter};
use testkit::draft::{Txn, checking, statement, txn};
use testkit::{Person, World};

use super::transactions::id_of;
use crate::browser::Browser;

const DOTS: &str = "•••";

/// A page with a form, where the form is sent to, and the fields that it is sent with.
struct Form {
    page: String,
    action: String,
    fields: Vec<(&'static str, &'static str)>,
}

async fn household(world: &World) -> Person {
    let robin = world.someone().await;
    let months = ["2025-09", "2025-10", "2025-11", "2025-12", "2026-01", "2026-02"];
    let monthly: Vec<Txn> = months
        .iter()
        .map(|it| txn(&format!("{it}-21"), -1_549, "NETFLIX.COM 866-579-7172"))
        .collect();
    let everyday = checking("Everyday").with_all(monthly);
    let everyday = everyday.with(txn("2026-03-02", -4_210, "KROGER #512"));
    robin.import(statement([everyday])).await;
    robin.import(statement([checking("House").balance("2026-03-09T08:00:00Z", -90_000)])).await;
    insights::pipeline::run_all(&world.app).await.unwrap();
    robin
}

/// The address of what was added last, from the links of a page.
fn last_link(page: &str, prefix: &str) -> String {
    let rest = page.rsplit_once(&format!("href=\"{prefix}")).unwrap().1;
    format!("{prefix}{}", rest.split('"').next().unwrap())
}

/// Fills in every form that has an amount of the person.
async fn forms(world: &World, robin: &Person, browser: &mut Browser) -> Vec<Form> {
    let goal = [("name", "A boat"), ("kind", "purchase"), ("target_amount", "12500.50")];
    browser.submit("/goals/new", &goal).await.good();
    let goal = last_link(&browser.get("/goals").await.good(), "/goals/goal_");
    let house = format!("/accounts/{}", robin.account("House").await);
    browser.submit(&format!("{house}/type"), &[("type", "loan/mortgage")]).await.good();
    let rule = [("words", "KROGER"), ("amount_most", "57.25"), ("hides", "yes"), ("do", "save")];
    browser.submit("/settings/rules/new", &rule).await.good();
    let rule = last_link(&browser.get("/settings/rules").await.good(), "/settings/rules/rule_");
    let wallet =
        [("name", "Wallet"), ("kind", "depository"), ("currency", "USD"), ("balance", "9")];
    browser.submit("/accounts/new", &wallet).await.good();
    let wallet = format!("/accounts/{}/transactions", robin.account("Wallet").await);
    let entry =
        vec![("on", "2026-03-04"), ("way", "out"), ("amount", "34.75"), ("description", "Beans")];
    let page = browser.submit(&wallet, &entry).await.good();
    let beans = last_link(&page, "/transactions/txn_");
    let kroger = format!("/transactions/{}", id_of(world, robin, "KROGER").await);
    let filter = Filter { status: None, account_id: None, direction: None };
    let streams = recurring::list(&world.app, &robin.caller, filter).await.unwrap().streams;
    let stream = format!("/recurring/{}", streams[0].0.id);
    let (food, gifts) = ("FOOD_AND_DRINK_GROCERIES", "GENERAL_MERCHANDISE_GIFTS_AND_NOVELTIES");
    let parts = |first, second| {
        let row = |category, amount| [("category", category), ("amount", amount), ("note", "")];
        [row(food, first), row(gifts, second)].concat()
    };
    let form = |page: &str, action: String, fields: &[(&'static str, &'static str)]| Form {
        page: page.to_owned(),
        action,
        fields: fields.to_vec(),
    };
    let split = format!("{kroger}/split");
    let edit = format!("{beans}/edit");
    vec![
        form(
            &goal,
            goal.clone(),
            &[
                ("name", "A boat"),
                ("kind", "purchase"),
                ("status", "active"),
                ("target_amount", "12345.60"),
                ("saved_amount", "500.25"),
            ],
        ),
        form(&house, format!("{house}/terms"), &[("due_day", "15"), ("payment", "512.30")]),
        form(&stream, stream.clone(), &[("name", "TV"), ("amount", "17.99")]),
        form(
            &rule,
            rule.clone(),
            &[("words", "KROGER"), ("amount_most", "58.35"), ("hides", "yes")],
        ),
        form(
            "/settings/approvals",
            "/settings/approvals".to_owned(),
            &[
                ("life_seconds", "3600"),
                ("passkey", "1"),
                ("passkey_from", "1357.90"),
                ("proposals_a_day", "25"),
            ],
        ),
        form(&edit, edit.clone(), &entry),
        form(&split, split.clone(), &parts("30.15", "11.95")),
    ]
}

fn is_amount(text: &str) -> bool {
    text.contains('.') && text.bytes().all(|it| it.is_ascii_digit() || it == b'.')
}

#[tokio::test]
async fn saving_dots_keeps_the_stored_amounts() {
    let world = World::new().await;
    let robin = household(&world).await;
    let mut browser = Browser::of(&world, &robin).await;
    let hide = |hide: &'static str| [("hide", hide), ("next", "/")];
    for Form { page, action, fields } in forms(&world, &robin, &mut browser).await {
        let masked: Vec<(&str, &str)> = fields
            .iter()
            .map(|(name, it)| (*name, if is_amount(it) { DOTS } else { *it }))
            .collect();
        assert_ne!(fields, masked, "{action}");
        browser.submit(&action, &fields).await.good();
        browser.submit("/view", &hide("1")).await.good();
        let shown = browser.get(&page).await.good();
        for (_, amount) in fields.iter().filter(|it| is_amount(it.1)) {
            assert!(!shown.contains(amount), "{action}: {amount}");
        }
        assert!(shown.contains(&format!("value=\"{DOTS}\"")), "{action}: {shown}");
        browser.submit(&action, &masked).await.good();
        browser.submit("/view", &hide("0")).await.good();
        let shown = browser.get(&page).await.good();
        for (name, amount) in fields.iter().filter(|it| is_amount(it.1)) {
            assert!(shown.contains(&format!("value=\"{amount}\"")), "{action}: {name} {shown}");
        }
    }
}
