//! The transaction pages: filters, totals, corrections, rules and downloads, each only for their owner.

use base::TransactionId;
use http::{Method, StatusCode};
use service::classify::rules;
use service::insights;
use service::ledger::transactions;
use service::ledger::transactions::Filter;
use service::platform::audit;
use service::platform::cursors::Page;
use testkit::draft::{account, checking, statement, txn};
use testkit::{Person, World};

use super::{HOSTILE, assert_escaped};
use crate::browser::{Browser, encode};

pub(super) async fn household(world: &World) -> Person {
    let robin = world.someone().await;
    let everyday = checking("Everyday")
        .with(txn("2026-03-01", 250_000, "ACME PAYROLL"))
        .with(txn("2026-03-02", -50_000, "ONLINE TRANSFER TO SAVINGS 0042"))
        .with(txn("2026-03-03", -4_210, "KROGER #339"))
        .with(txn("2026-03-04", -900, "CORNER CAFE").pending());
    let savings = account("Rainy day", base::draft::AccountKind::Depository, "savings").with(txn(
        "2026-03-03",
        50_000,
        "TRANSFER FROM CHECKING",
    ));
    robin.import(statement([everyday, savings])).await;
    insights::pipeline::run_all(&world.app).await.unwrap();
    robin
}

pub(super) async fn id_of(world: &World, person: &Person, text: &str) -> TransactionId {
    let filter = Filter { q: Some(text.to_owned()), ..Filter::default() };
    let mut found = Vec::new();
    let page = Page { cursor: None, limit: 100 };
    transactions::list(&world.app, &person.caller, &filter, page, |row| found.push(row.id))
        .await
        .unwrap();
    assert_eq!(found.len(), 1, "{text}");
    found[0]
}

#[tokio::test]
async fn transactions_are_grouped_by_day_below_the_totals_of_the_filter() {
    let world = World::new().await;
    let robin = household(&world).await;
    let mut browser = Browser::of(&world, &robin).await;
    let page = browser.get("/transactions").await.good();
    for part in [
        "Tue 3 Mar",
        "+$2,500.00",
        "-$51.10",
        "$2,448.90",
        "Pending",
        "<td class=\"kind\">Transfer</td>",
    ] {
        assert!(page.contains(part), "{part}\n{page}");
    }
    assert!(page.contains("class=\"pending\"") && page.contains("class=\"transfer\""), "{page}");
    let page = browser.get("/transactions?direction=out&transfers=hide&q=kroger").await.good();
    assert!(page.contains("KROGER") && !page.contains("PAYROLL") && !page.contains("CORNER"));
    // Each filter can be removed by itself, and the others stay.
    assert!(page.contains("href=\"/transactions?direction=out&amp;transfers=hide\""), "{page}");
    assert!(page.contains("href=\"/transactions?direction=out&amp;q=kroger\""), "{page}");
    assert!(
        page.contains("href=\"/transactions.csv?direction=out&amp;transfers=hide&amp;q=kroger\"")
    );
    let page = browser.get("/transactions?q=nowhere").await.good();
    assert!(page.contains("No matches"), "{page}");
    // Words for dates in the search are dates.
    let page = browser.get("/transactions?q=kroger+this+month").await.good();
    assert!(page.contains("KROGER") && !page.contains("PAYROLL"), "{page}");
    let page = browser.get("/transactions?q=%3E1000").await.good();
    assert!(page.contains("PAYROLL") && !page.contains("KROGER"), "{page}");
    let page = browser.get("/transactions?q=kroger+last+year").await.good();
    assert!(page.contains("No matches"), "{page}");
    // So is the name of a category.
    for name in ["groceries", "Food+and+drink+this+month"] {
        let page = browser.get(&format!("/transactions?q={name}")).await.good();
        assert!(page.contains("KROGER") && !page.contains("PAYROLL"), "{page}");
        assert!(page.contains("in the category"), "{page}");
    }
}

#[tokio::test]
async fn the_search_finds_pages_actions_accounts_categories_and_transactions() {
    let world = World::new().await;
    let robin = household(&world).await;
    let mut browser = Browser::of(&world, &robin).await;
    for (text, expected) in [
        ("", "href=\"/spending\""),
        ("import", "Import bank files"),
        ("everyday", "/accounts/acc_"),
        ("grocer", "category=FOOD_AND_DRINK_GROCERIES"),
        ("kroger", "/transactions/txn_"),
        ("audit", "/settings/audit"),
        ("passkey", "/settings/security"),
        ("new+rule", "/settings/rules/new"),
        ("hide+am", "name=\"hide\" value=\"1\""),
        ("dark+theme", "name=\"theme\" value=\"dark\""),
        ("sign+out", "action=\"/sign-out\""),
        ("zzz", "Nothing found"),
    ] {
        let page = browser.get(&format!("/search?q={text}")).await.good();
        let results = page.split_once("<div data-results>").unwrap().1;
        let results = results.split_once("</main>").unwrap().0;
        assert!(results.contains(expected), "{text}: {results}");
    }
    let hostile = browser.get("/search?q=%3Cscript%3E").await.good();
    assert!(!hostile.contains("<script>") && hostile.contains("&lt;script&gt;"), "{hostile}");
}

#[tokio::test]
async fn older_pages_follow_by_cursor_and_an_invalid_cursor_is_reported() {
    let world = World::new().await;
    let robin = world.someone().await;
    let many = (0..120).map(|it| txn("2026-03-01", -100 - it, &format!("SHOP {it:03}")));
    robin.import(statement([checking("Everyday").with_all(many)])).await;
    let mut browser = Browser::of(&world, &robin).await;
    let (mut path, mut seen, mut pages) = ("/transactions?q=shop".to_owned(), 0, 0);
    loop {
        let page = browser.get(&path).await.good();
        seen += page.matches("name=\"id\"").count();
        pages += 1;
        // The day is split over pages, and its sum is still that of the whole day.
        assert!(page.contains("-$191.40"), "{page}");
        let Some((before, _)) = page.split_once("\" rel=\"next\"") else { break };
        let next = before.rsplit_once("href=\"").unwrap().1;
        path = next.replace("&amp;", "&");
    }
    assert_eq!((seen, pages), (120, 3));
    let page = browser.get("/transactions?cursor=broken").await;
    assert_eq!(page.status, StatusCode::BAD_REQUEST);
    assert!(page.text.contains("has expired") && page.text.contains("SHOP 119"));
}

#[tokio::test]
async fn invalid_filters_are_reported_and_ignored() {
    let world = World::new().await;
    let (robin, kim) = (household(&world).await, household(&world).await);
    let mut browser = Browser::of(&world, &robin).await;
    let others = kim.account("Everyday").await.to_string();
    for (query, message) in [
        ("from=2026-13-40", "isn't a date"),
        ("to=yesterday", "isn't a date"),
        ("from=2026-03-02&to=2026-03-01", "after the end date"),
        ("account=nonsense", "This account doesn't exist"),
        (&format!("account={others}"), "This account doesn't exist"),
        ("category=FUN", "category doesn't exist"),
        ("direction=sideways", "isn't a valid choice"),
        ("status=%3Cb%3E", "isn't a valid choice"),
        ("transfers=1", "isn't a valid choice"),
        ("q=%00", "invalid characters"),
        (&format!("q={}", "x".repeat(101)), "can have up to 100 characters"),
        ("q=%zz", "This link is invalid"),
    ] {
        let page = browser.get(&format!("/transactions?{query}")).await;
        assert_eq!(page.status, StatusCode::BAD_REQUEST, "{query}");
        assert!(
            page.text.contains(message) && page.text.contains("KROGER"),
            "{query}\n{}",
            page.text
        );
        let file = browser.get(&format!("/transactions.csv?{query}")).await;
        assert_eq!(file.status, StatusCode::BAD_REQUEST, "{query}");
        assert!(!file.text.contains("KROGER"), "{query}");
    }
}

#[tokio::test]
async fn a_compressed_download_has_the_same_content() {
    let world = World::new().await;
    let robin = world.someone().await;
    let many = (0..1_234).map(|it| txn("2026-03-01", -100 - it, &format!("SHOP {it:04}")));
    robin.import(statement([checking("Everyday").with_all(many)])).await;
    let mut browser = Browser::of(&world, &robin).await;
    for path in ["/transactions.csv", "/transactions.json", "/transactions.csv?q=nothing"] {
        browser.accept_encoding = None;
        let plain = browser.get(path).await.good();
        for encoding in ["gzip", "br", "zstd"] {
            browser.accept_encoding = Some(encoding);
            let file = browser.get(path).await;
            assert_eq!(file.header("content-encoding"), encoding, "{path}");
            assert!(!file.bytes.is_empty(), "{path} {encoding}");
            if encoding == "gzip" {
                let mut text = String::new();
                let mut decoder = flate2::read::GzDecoder::new(file.bytes.as_slice());
                std::io::Read::read_to_string(&mut decoder, &mut text).unwrap();
                assert_eq!(text, plain, "{path}");
            }
        }
    }
}

#[tokio::test]
async fn a_download_has_every_row_of_the_view_and_no_formula() {
    let world = World::new().await;
    let robin = world.someone().await;
    let many = (0..1_234).map(|it| txn("2026-03-01", -100 - it, &format!("SHOP {it:04}")));
    let odd = ["=HYPERLINK(\"x\")", "@SUM(A1)", HOSTILE].map(|it| txn("2026-03-02", -5, it));
    robin.import(statement([checking("=Everyday").with_all(many).with_all(odd)])).await;
    let mut browser = Browser::of(&world, &robin).await;
    let file = browser.get("/transactions.csv?q=shop&from=2026-01-01&to=2026-03-05").await;
    assert_eq!(file.headers["content-type"], "text/csv; charset=utf-8; header=present");
    let name = "attachment; filename=\"transactions-2026-01-01-to-2026-03-05.csv\"";
    assert_eq!(file.headers["content-disposition"], name);
    let text = file.good();
    assert_eq!(text.lines().count(), 1_235);
    assert!(text.starts_with("Date,Authorized,Account,Name,Bank text,"), "{text}");
    assert!(text.contains(",SHOP 0000,") && text.contains(",-1.00,USD,posted,no,txn_"));
    let all = browser.get("/transactions.json").await.good();
    let rows: Vec<serde_json::Value> = serde_json::from_str(&all).unwrap();
    assert_eq!(rows.len(), 1_237);
    assert_eq!(rows[0]["currency"], "USD");
    let none = browser.get("/transactions.json?q=nothing+like+it").await.good();
    assert_eq!(none, "[\n]\n");
    let text = browser.get("/transactions.csv").await.good();
    for part in [
        "\"'=HYPERLINK(\"\"x\"\")\"",
        "'@SUM(A1)",
        "'=Everyday",
        "\"<script>alert(1)</script>\"\"'>\"",
    ] {
        assert!(text.contains(part), "{part}");
    }
    assert!(!text.lines().any(|it| it.split(',').any(|it| it.starts_with(['=', '@']))));
}

#[tokio::test]
async fn text_from_banks_is_escaped_everywhere() {
    let world = World::new().await;
    let robin = world.someone().await;
    let hostile = txn("2026-03-02", -500, HOSTILE).from(HOSTILE);
    robin.import(statement([checking(HOSTILE).with(hostile)])).await;
    insights::pipeline::run_all(&world.app).await.unwrap();
    let mut browser = Browser::of(&world, &robin).await;
    let id = id_of(&world, &robin, "alert").await;
    let escaped = "&lt;script&gt;alert(1)&lt;/script&gt;&quot;'&gt;";
    let query = format!("/transactions?q={}", encode(HOSTILE));
    for path in ["/transactions", &query, &format!("/transactions/{id}?back={}", encode(HOSTILE))] {
        let page = browser.get(path).await.good();
        assert_escaped(&page);
        assert!(page.contains(escaped), "{path}\n{page}");
    }
    let page = browser.get(&format!("/transactions/{id}")).await.good();
    assert!(page.contains(&format!("<title>{escaped}")), "{page}");
}

#[tokio::test]
async fn a_correction_changes_the_row_at_once_and_can_be_undone() {
    let world = World::new().await;
    let robin = household(&world).await;
    let mut browser = Browser::of(&world, &robin).await;
    let id = id_of(&world, &robin, "kroger").await;
    let path = format!("/transactions/{id}");
    let page = browser.get(&format!("{path}?back=/transactions%3Fq%3Dkroger")).await.good();
    assert!(page.contains("Known merchant"), "{page}");
    assert!(page.contains("href=\"/transactions?q=kroger\""), "{page}");
    let correction =
        [("category", "MEDICAL_VETERINARY_SERVICES"), ("name", "Happy Paws"), ("back", "")];
    let page = browser.submit(&path, &correction).await.good();
    assert!(page.contains("Saved.") && page.contains("Set by you"), "{page}");
    assert!(page.contains("Happy Paws"));
    let list = browser.get("/transactions?category=MEDICAL_VETERINARY_SERVICES").await.good();
    assert!(list.contains("Happy Paws"), "{list}");
    let page = browser.submit(&format!("{path}/undo"), &[]).await.good();
    assert!(page.contains("Correction removed") && page.contains("Known merchant"), "{page}");
    let page = browser.post(&path, &[("name", "a\nb")]).await;
    assert_eq!(page.status, StatusCode::BAD_REQUEST);
    assert!(page.text.contains("on one line"), "{}", page.text);
    let page = browser.submit(&path, &[("category", ""), ("name", "")]).await.good();
    assert!(page.contains("No changes."), "{page}");
}

#[tokio::test]
async fn a_correction_for_always_makes_a_rule_that_is_listed_and_can_be_deleted() {
    let world = World::new().await;
    let robin = household(&world).await;
    let mut browser = Browser::of(&world, &robin).await;
    let page = browser.get("/settings/rules").await.good();
    assert!(page.contains("No rules yet"), "{page}");
    let id = id_of(&world, &robin, "kroger").await;
    let correction = [("category", "MEDICAL_VETERINARY_SERVICES"), ("always", "yes")];
    browser.submit(&format!("/transactions/{id}"), &correction).await.good();
    let page = browser.get("/settings/rules").await.good();
    let text =
        "Every transaction from <strong>Kroger</strong> is categorized as <strong>Vet</strong>.";
    assert!(page.contains(text), "{page}");
    let rule = rules::list(&world.app, &robin.caller).await.unwrap()[0].id;
    let kim = household(&world).await;
    let mut other = Browser::of(&world, &kim).await;
    let refused = other.post(&format!("/settings/rules/{rule}/delete"), &[]).await;
    assert_eq!(refused.status, StatusCode::NOT_FOUND);
    let page = browser.submit(&format!("/settings/rules/{rule}/delete"), &[]).await.good();
    assert!(page.contains("Rule deleted") && page.contains("No rules yet"), "{page}");
}

#[tokio::test]
async fn a_rule_for_new_transactions_can_be_applied_to_past_ones_by_a_button() {
    let world = World::new().await;
    let robin = household(&world).await;
    let again = txn("2026-02-03", -3_000, "KROGER #339");
    robin.import(statement([checking("Everyday").with(again)])).await;
    let mut browser = Browser::of(&world, &robin).await;
    let list = browser.get("/transactions?q=kroger&from=2026-03-01").await.good();
    let id = list.split_once("name=\"id\" value=\"").unwrap().1.split('"').next().unwrap();
    let page = browser.get(&format!("/transactions/{id}")).await.good();
    let ticked = "name=\"past\" value=\"yes\" checked";
    assert!(page.contains(ticked), "{page}");
    world.advance_seconds(60);
    let correction = [("category", "MEDICAL_VETERINARY_SERVICES"), ("always", "yes")];
    let page = browser.submit(&format!("/transactions/{id}"), &correction).await.good();
    assert!(page.contains("The rule applies to new transactions"), "{page}");
    insights::pipeline::run_all(&world.app).await.unwrap();
    let vets = "/transactions?category=MEDICAL_VETERINARY_SERVICES";
    assert_eq!(browser.get(vets).await.good().matches("name=\"id\"").count(), 1);
    let page = browser.get("/settings/rules").await.good();
    assert!(page.contains("Applies to 0 transactions"), "{page}");
    assert!(page.contains("Applying it would change 1 past transaction."), "{page}");
    let rule = rules::list(&world.app, &robin.caller).await.unwrap()[0].id;
    let page = browser.submit(&format!("/settings/rules/{rule}/apply"), &[]).await.good();
    assert!(page.contains("1 transaction changed."), "{page}");
    assert!(
        page.contains("Applies to 1 transaction.") && !page.contains("Apply to past transactions")
    );
    assert_eq!(browser.get(vets).await.good().matches("name=\"id\"").count(), 2);
}

#[tokio::test]
async fn a_rule_is_edited_by_its_form_which_keeps_typed_values() {
    let world = World::new().await;
    let robin = household(&world).await;
    let mut browser = Browser::of(&world, &robin).await;
    let id = id_of(&world, &robin, "kroger").await;
    let correction =
        [("category", "MEDICAL_VETERINARY_SERVICES"), ("always", "yes"), ("past", "yes")];
    browser.submit(&format!("/transactions/{id}"), &correction).await.good();
    let rule = rules::list(&world.app, &robin.caller).await.unwrap()[0].id;
    let path = format!("/settings/rules/{rule}");
    let page = browser.get(&path).await.good();
    assert!(page.contains("value=\"MEDICAL_VETERINARY_SERVICES\" selected"), "{page}");
    let page = browser.post(&path, &[("direction", "outflow")]).await;
    assert_eq!(page.status, StatusCode::BAD_REQUEST);
    assert!(page.text.contains("Enter a name, choose a category"), "{}", page.text);
    assert!(page.text.contains("value=\"outflow\" selected"), "{}", page.text);
    let page = browser.post(&path, &[("counterparty_name", HOSTILE), ("account_id", "x")]).await;
    assert_eq!(page.status, StatusCode::BAD_REQUEST);
    assert_escaped(&page.text);
    let account = robin.account("Everyday").await.to_string();
    let edit = [
        ("direction", "outflow"),
        ("account_id", account.as_str()),
        ("counterparty_name", "Corner shop"),
        ("category", "FOOD_AND_DRINK_GROCERIES"),
        ("hides", "yes"),
    ];
    let page = browser.submit(&path, &edit).await.good();
    let text = "Money out to <strong>Kroger</strong> on Everyday is renamed to \
                 <strong>Corner shop</strong> and is categorized as \
                 <strong>Groceries</strong> and is <strong>hidden</strong>.";
    assert!(page.contains("Rule saved") && page.contains(text), "{page}");
    let kim = household(&world).await;
    let mut other = Browser::of(&world, &kim).await;
    assert_eq!(other.get(&path).await.status, StatusCode::NOT_FOUND);
    assert_eq!(other.post(&path, &edit).await.status, StatusCode::NOT_FOUND);
    assert_eq!(other.post(&format!("{path}/apply"), &[]).await.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn transactions_hidden_by_a_rule_are_found_by_a_filter_and_link_to_the_rule() {
    let world = World::new().await;
    let robin = household(&world).await;
    let mut browser = Browser::of(&world, &robin).await;
    let id = id_of(&world, &robin, "kroger").await;
    let page = browser.get(&format!("/transactions/{id}")).await.good();
    assert!(page.contains("Always hide transactions from Kroger"), "{page}");
    let page = browser.submit(&format!("/transactions/{id}/hide"), &[]).await.good();
    let rule = rules::list(&world.app, &robin.caller).await.unwrap()[0].id;
    let link = format!("href=\"/settings/rules/{rule}\"");
    assert!(page.contains("A rule hides") && page.contains(&link), "{page}");
    assert!(!page.contains("Always hide"), "{page}");
    for path in ["/transactions", "/transactions?q=kroger", "/transactions.csv"] {
        assert!(!browser.get(path).await.good().contains("KROGER"), "{path}");
    }
    let page = browser.get("/transactions?status=hidden").await.good();
    assert!(
        page.contains("KROGER") && page.contains("</span>Hidden<span class=\"cross\""),
        "{page}"
    );
    assert!(!page.contains("PAYROLL"), "{page}");
    let kim = household(&world).await;
    let mut other = Browser::of(&world, &kim).await;
    let refused = other.post(&format!("/transactions/{id}/hide"), &[]).await;
    assert_eq!(refused.status, StatusCode::NOT_FOUND);
    browser.submit(&format!("/settings/rules/{rule}/delete"), &[]).await.good();
    insights::pipeline::run_all(&world.app).await.unwrap();
    assert!(browser.get("/transactions").await.good().contains("KROGER"));
}

#[tokio::test]
async fn several_selected_transactions_change_together() {
    let world = World::new().await;
    let robin = household(&world).await;
    let mut browser = Browser::of(&world, &robin).await;
    let ids = [
        id_of(&world, &robin, "kroger").await.to_string(),
        id_of(&world, &robin, "corner").await.to_string(),
    ];
    let next = ("next", "/transactions?q=r");
    let category = ("category", "TRAVEL_FLIGHTS");
    let ticked = [next, category, ("id", ids[0].as_str()), ("id", ids[1].as_str())];
    let page = browser.submit("/transactions/bulk", &ticked).await.good();
    assert!(page.contains("2 transactions set to Flights."), "{page}");
    assert_eq!(page.matches("<td class=\"kind\">Flights</td>").count(), 2, "{page}");
    let trail = audit::list(&world.app, &robin.caller, None, 1).await.unwrap();
    assert_eq!(trail[0].details, "Changed 2 transactions: category Flights");
    let page = browser.submit("/transactions/bulk", &[next, category]).await.good();
    assert!(page.contains("Select at least one"), "{page}");
    let page = browser.submit("/transactions/bulk", &[next, ("id", &ids[0])]).await.good();
    assert!(page.contains("Choose what to change first."), "{page}");
}

#[tokio::test]
async fn a_person_can_reject_and_confirm_a_transfer() {
    let world = World::new().await;
    let robin = household(&world).await;
    let mut browser = Browser::of(&world, &robin).await;
    let id = id_of(&world, &robin, "to savings").await;
    let other = id_of(&world, &robin, "from checking").await.to_string();
    let path = format!("/transactions/{id}");
    let page = browser.get(&path).await.good();
    assert!(page.contains("Not a transfer") && page.contains("Rainy day"), "{page}");
    let refused = [("other", other.as_str()), ("is", "refuse")];
    let page = browser.submit(&format!("{path}/transfer"), &refused).await.good();
    assert!(page.contains("Mark as transfer"), "{page}");
    assert!(!page.contains("Not a transfer"), "{page}");
    let confirmed = [("other", other.as_str()), ("is", "transfer")];
    let page = browser.submit(&format!("{path}/transfer"), &confirmed).await.good();
    assert!(page.contains("Not a transfer"), "{page}");
}

#[tokio::test]
async fn other_peoples_transactions_are_not_found_and_forms_need_their_token() {
    let world = World::new().await;
    let (robin, kim) = (household(&world).await, household(&world).await);
    let id = id_of(&world, &kim, "kroger").await;
    let mut browser = Browser::of(&world, &robin).await;
    for path in [format!("/transactions/{id}"), "/transactions/nonsense".to_owned()] {
        assert_eq!(browser.get(&path).await.status, StatusCode::NOT_FOUND);
    }
    let id = id.to_string();
    let fields = [("category", "TRAVEL_FLIGHTS"), ("other", id.as_str()), ("id", id.as_str())];
    for path in ["", "/undo", "/transfer"] {
        let page = browser.post(&format!("/transactions/{id}{path}"), &fields).await;
        assert!(page.status == StatusCode::NOT_FOUND || path == "/undo", "{path} {}", page.status);
    }
    let page = browser.post("/transactions/bulk", &fields).await;
    assert_eq!(page.status, StatusCode::NOT_FOUND);
    let mut owner = Browser::of(&world, &kim).await;
    let body = format!("category=TRAVEL_FLIGHTS&id={id}");
    let page = owner.send(Method::POST, "/transactions/bulk", body).await;
    assert_eq!(page.status, StatusCode::FORBIDDEN);
    let page = owner.get(&format!("/transactions/{id}")).await.good();
    assert!(page.contains("Known merchant"), "{page}");
    for path in [
        "/transactions",
        "/transactions.csv",
        "/transactions.json",
        "/recurring",
        "/income",
        "/settings/rules",
    ] {
        let page = Browser::new(&world).get(path).await;
        let to = page.headers["location"].to_str().unwrap();
        assert_eq!((page.status, to), (StatusCode::SEE_OTHER, &*format!("/sign-in?next={path}")));
    }
}
