//! The spending page.

use http::StatusCode;
use service::insights;
use service::ledger::reference_rates;
use testkit::World;
use testkit::draft::{checking, statement, txn};

use super::HOSTILE;
use crate::browser::Browser;

/// Groceries, restaurants and a trip from January to March, with a refund, pay, and one row in a currency without a rate.
async fn robin(world: &World) -> Browser {
    let robin = world.person("robin@example.com").await;
    let spend = |on: &str, minor, name: &str, category: &str| {
        txn(on, minor, name).from(name).category(category).id(&format!("{name} {on}"))
    };
    let everyday = checking("Everyday").balance("2026-03-10T08:00:00Z", 523_456).with_all([
        spend("2026-01-05", -40_000, "Kroger", "FOOD_AND_DRINK_GROCERIES"),
        spend("2026-02-05", -20_000, "Kroger", "FOOD_AND_DRINK_GROCERIES"),
        spend("2026-02-27", 300_000, "Acme", "INCOME_WAGES"),
        spend("2026-03-02", -30_000, "Kroger", "FOOD_AND_DRINK_GROCERIES"),
        spend("2026-03-03", -12_000, HOSTILE, "FOOD_AND_DRINK_RESTAURANT"),
        spend("2026-03-04", -50_000, "Delta", "TRAVEL_FLIGHTS"),
        spend("2026-03-05", 10_000, "Delta", "TRAVEL_FLIGHTS"),
    ]);
    let zurich = checking("Zurich").in_currency("CHF").with_all([spend(
        "2026-03-06",
        -7_700,
        "Coop",
        "FOOD_AND_DRINK_GROCERIES",
    )]);
    robin.import(statement([everyday, zurich])).await;
    insights::pipeline::run_all(&world.app).await.unwrap();
    Browser::of(world, &robin).await
}

fn between<'a>(page: &'a str, from: &str, to: &str) -> &'a str {
    let rest = page.split_once(from).unwrap_or_else(|| panic!("{from} is not in {page}")).1;
    rest.split_once(to).unwrap_or_else(|| panic!("{to} is not in {rest}")).0
}

#[tokio::test]
async fn spending_is_shown_by_category_and_compared() {
    let world = World::new().await;
    let mut browser = robin(&world).await;
    let page = browser.get("/spending").await.good();
    // 300 + 120 + 500 - 100; the first ten days of February had one purchase of 200.
    let headline = between(&page, "id=\"total\"", "</header>");
    assert!(headline.contains("$820.00") && headline.contains("$620.00"), "{headline}");
    assert!(headline.contains("more") && headline.contains("Sun 1 Feb"), "{headline}");
    let rows = between(&page, "id=\"groups\"", "</table>");
    assert!(rows.contains("/spending?category=TRAVEL") && rows.contains("$400.00"), "{rows}");
    assert!(
        rows.contains(
            "/transactions?category=FOOD_AND_DRINK&amp;from=2026-03-01&amp;to=2026-03-10"
        ),
        "{rows}"
    );
    let left_out = between(&page, "Not included, because there is no exchange rate", "</p>");
    assert!(left_out.contains("77.00"), "{page}");
    let flow = between(&page, "id=\"flow\"", "</section>");
    assert!(flow.contains("From savings") && flow.contains("Travel"), "{flow}");
    // An average month: 400 and 200 on food.
    let average = browser.get("/spending?compare=usual").await.good();
    assert!(between(&average, "id=\"total\"", "</header>").contains("$300.00"), "{average}");
}

#[tokio::test]
async fn a_category_opens_its_parts_and_merchants() {
    let world = World::new().await;
    let mut browser = robin(&world).await;
    let page = browser.get("/spending?category=FOOD_AND_DRINK&period=this_year").await.good();
    assert!(between(&page, "<h1>", "</h1>").contains("Food and drink"), "{page}");
    assert!(between(&page, "id=\"total\"", "</header>").contains("$1,020.00"), "{page}");
    let rows = between(&page, "id=\"groups\"", "</table>");
    assert!(rows.contains("category=FOOD_AND_DRINK_RESTAURANT"), "{rows}");
    assert!(page.contains("href=\"/spending?period=this_year\"") && !page.contains("id=\"flow\""));
    let merchants = browser.get("/spending?by=merchant").await.good();
    assert!(
        between(&merchants, "id=\"groups\"", "</table>").contains("merchant=Delta"),
        "{merchants}"
    );
    assert!(!merchants.contains(HOSTILE), "{merchants}");
}

/// The address of the first link in a page that begins like this.
fn link(page: &str, start: &str) -> String {
    let rest = between(page, &format!("href=\"{start}"), "\"");
    format!("{start}{}", rest.replace("&amp;", "&"))
}

#[tokio::test]
async fn a_merchant_opens_exactly_its_transactions_and_they_add_up() {
    let world = World::new().await;
    let robin = world.person("robin@example.com").await;
    let spend = |on: &str, minor, name: &str| {
        txn(on, minor, name).from(name).category("GENERAL_MERCHANDISE_ELECTRONICS").id(on)
    };
    robin
        .import(statement([checking("Everyday").with_all([
            spend("2026-03-02", -50_000, "Apple"),
            spend("2026-03-03", -3_000, "Applebee's"),
            spend("2026-03-04", -700, "Green Apple"),
            spend("2026-03-05", 10_000, "Apple"),
            txn("2026-03-06", -1_234, "TRANSFER")
                .category("GENERAL_MERCHANDISE_ELECTRONICS")
                .id("n"),
        ])]))
        .await;
    insights::pipeline::run_all(&world.app).await.unwrap();
    let mut browser = Browser::of(&world, &robin).await;
    for (path, card) in [("/spending?by=merchant", "groups"), ("/spending", "merchants")] {
        let page = browser.get(path).await.good();
        let rows = between(&page, &format!("id=\"{card}\""), "</section>");
        let href = link(rows, "/transactions?merchant=Apple&amp;");
        assert!(rows.contains("$400.00"), "{rows}");
        let list = browser.get(&href.replace("&amp;", "&")).await.good();
        let sums = between(&list, "<dl class=\"tiles sums\">", "</dl>");
        assert!(between(sums, "Transactions</dt>", "</dd>").contains('2'), "{sums}");
        assert!(between(sums, "Net</dt>", "</dd>").contains("$400.00"), "{sums}");
        assert!(list.contains("Merchant: Apple"), "{list}");
        assert!(!list.contains("Applebee") && !list.contains("Green"), "{list}");
        assert!(list.contains("value=\"Apple\""), "the form keeps the filter: {list}");
        let unknown = link(rows, "/transactions?no_merchant=yes&amp;");
        let list = browser.get(&unknown.replace("&amp;", "&")).await.good();
        assert_eq!(tile(&list, "Net"), -1_234, "{list}");
        assert!(list.contains("No merchant name") && !list.contains("Apple"), "{list}");
    }
}

/// The amount of a tile above the list of transactions, in cents.
fn tile(list: &str, name: &str) -> i64 {
    let sums = between(list, "<dl class=\"tiles sums\">", "</dl>");
    let amount = between(sums, &format!("{name}</dt>"), "</dd>");
    cents(between(amount, "class=\"amount\">", "<"))
}

fn cents(amount: &str) -> i64 {
    amount.replace(['$', ',', '.'], "").parse().unwrap_or_else(|_| panic!("{amount}"))
}

#[tokio::test]
async fn an_account_opens_what_was_spent_from_it_and_the_rows_add_up() {
    let world = World::new().await;
    let mut browser = robin(&world).await;
    let page = browser.get("/spending?by=account&period=this_year").await.good();
    let groups = between(&page, "id=\"groups\"", "</section>");
    let href = link(groups, "/transactions?account=");
    // 1,020 on food, and 400 on a trip after its refund; pay of 3,000 came to the same account.
    let spent = groups.split("class=\"amount\">").nth(1).unwrap().split('<').next().unwrap();
    assert_eq!(cents(spent), 142_000, "{groups}");
    let list = browser.get(&href.replace("&amp;", "&")).await.good();
    assert!(list.contains("Counted as spending") && !list.contains("Acme"), "{list}");
    assert_eq!((tile(&list, "Net"), tile(&list, "Money in")), (-142_000, 10_000), "{list}");
    let rows = list.split("<td class=\"what\">").skip(1);
    let amounts = rows.map(|it| between(it, "<td class=\"figure\">", "</td>"));
    let amounts: Vec<i64> =
        amounts.map(|it| cents(&between(it, "class=\"amount\">", "<").replace('+', ""))).collect();
    assert_eq!((amounts.len(), amounts.iter().sum::<i64>()), (6, -142_000), "{amounts:?}");
    let wrong = browser.get("/transactions?counts=income").await;
    assert_eq!(wrong.status, StatusCode::BAD_REQUEST);
    assert!(wrong.text.contains("“income” isn't a valid choice."), "{}", wrong.text);
}

#[tokio::test]
async fn charts_and_comparisons_name_the_currencies_that_they_leave_out() {
    let world = World::new().await;
    let mut browser = robin(&world).await;
    let page = browser.get("/spending").await.good();
    let left_out = "Amounts in CHF are not included, because there is no exchange rate.";
    assert!(between(&page, "id=\"total\"", "</section>").contains(left_out), "{page}");
    assert_eq!(page.matches(left_out).count(), 2, "the chart and the cash flow: {page}");
    assert!(!page.contains("In the period that it is compared with:"), "{page}");
    // The days before these are the ones with the purchase in francs.
    let later = "/spending?period=days&from=2026-03-07&to=2026-03-10";
    let later = browser.get(later).await.good();
    let before = between(&later, "In the period that it is compared with:", "</section>");
    assert!(between(before, "no exchange rate", "</p>").contains("77.00"), "{later}");
    reference_rates::import(&world.app, b"Date,USD,CHF,\n2026-03-09,1.10,0.88,\n").await.unwrap();
    insights::pipeline::run_all(&world.app).await.unwrap();
    let page = browser.get("/spending").await.good();
    assert!(!page.contains("no exchange rate"), "{page}");
}

#[tokio::test]
async fn other_dates_are_checked() {
    let world = World::new().await;
    let mut browser = robin(&world).await;
    let page = browser.get("/spending?period=days&from=2026-01-01&to=2026-01-31").await.good();
    assert!(between(&page, "id=\"total\"", "</header>").contains("$400.00"), "{page}");
    let wrong = browser.get("/spending?period=days&from=2026-02-01&to=2026-01-31").await.good();
    assert!(
        wrong.contains("The start date is after the end date. This month is shown instead."),
        "{wrong}"
    );
}

#[tokio::test]
async fn a_person_without_transactions_is_told_what_the_page_will_show() {
    let world = World::new().await;
    let kim = world.person("kim@example.com").await;
    let mut browser = Browser::of(&world, &kim).await;
    let page = browser.get("/spending").await.good();
    assert!(page.contains("No transactions yet") && page.contains("href=\"/import\""), "{page}");
}

#[tokio::test]
async fn errors_keep_the_navigation_for_a_signed_in_person() {
    let world = World::new().await;
    let mut browser = robin(&world).await;
    for path in ["/nowhere", "/accounts/acc_0", "/oauth/authorize?client_id=none"] {
        let answer = browser.get(path).await;
        assert!(answer.status.is_client_error(), "{path} {}", answer.status);
        let page = answer.text;
        assert!(
            page.contains("aria-label=\"Pages\"") && page.contains("Go to overview"),
            "{path} {page}"
        );
    }
    let mut visitor = Browser::new(&world);
    let answer = visitor.get("/nowhere").await;
    assert_eq!(answer.status, StatusCode::NOT_FOUND);
    let page = answer.text;
    assert!(!page.contains("aria-label=\"Pages\"") && page.contains("Page not found"), "{page}");
}

#[tokio::test]
async fn the_app_can_be_installed_and_stores_only_the_offline_page() {
    let world = World::new().await;
    let mut browser = Browser::new(&world);
    let manifest = browser.get("/manifest.webmanifest").await.good();
    let manifest: serde_json::Value = serde_json::from_str(&manifest).unwrap();
    assert_eq!(manifest["display"], "standalone");
    for icon in manifest["icons"].as_array().unwrap() {
        let icon = browser.get(icon["src"].as_str().unwrap()).await;
        assert_eq!(icon.status, StatusCode::OK);
    }
    let worker = browser.get("/worker.js").await;
    assert!(worker.header("content-security-policy").contains("worker-src 'self'"));
    let worker = worker.good();
    let files = worker.split_once("FILES = ").unwrap().1.split_once(';').unwrap().0;
    let files: Vec<String> = serde_json::from_str(files).unwrap();
    assert_eq!(files.len(), 2);
    for file in &files {
        assert_eq!(browser.get(file).await.status, StatusCode::OK, "{file}");
    }
    assert!(browser.get("/offline").await.good().contains("You're offline"));
}
