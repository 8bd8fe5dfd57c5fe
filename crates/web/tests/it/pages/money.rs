//! The overview and the account pages.

use base::AccountId;
use http::StatusCode;
use service::insights;
use service::ledger::accounts;
use service::ledger::goals::{self, Kind, NewGoal, Status};
use testkit::draft::{Account, brokerage, card, checking, statement, txn};
use testkit::{Person, World};

use super::HOSTILE;
use crate::browser::Browser;

/// Rent, power and pay over two years, a card with benefits, and shares.
fn household() -> Vec<Account> {
    let mut everyday = checking("Everyday").balance("2026-03-10T08:00:00Z", 523_456);
    for month in 0..24 {
        let on = |of_month: i64| {
            format!("{:04}-{:02}-{of_month:02}", 2024 + (month + 3) / 12, (month + 3) % 12 + 1)
        };
        everyday = everyday
            .with(txn(&on(1), -180_000, "OAK STREET RENT").id(&format!("rent {month}")))
            .with(txn(&on(18), -9_000, "CITY POWER AND LIGHT").id(&format!("power {month}")))
            .with(
                txn(&on(15), 420_000, "ACME CORP PAYROLL")
                    .category("INCOME_WAGES")
                    .id(&format!("pay {month}")),
            );
    }
    let mut gold = card("American Express Gold Card").balance("2026-03-10T08:00:00Z", 120_050);
    gold.institution_name = Some("American Express".to_owned());
    gold.mask = Some("1009".to_owned());
    vec![everyday, gold, brokerage("Brokerage").balance("2026-03-10T08:00:00Z", 4_000_000)]
}

async fn robin(world: &World) -> (Person, Browser) {
    let robin = world.person("robin@example.com").await;
    robin.import(statement(household())).await;
    insights::pipeline::run_all(&world.app).await.unwrap();
    let browser = Browser::of(world, &robin).await;
    (robin, browser)
}

fn account_path(id: AccountId, verb: &str) -> String {
    format!("/accounts/{id}{verb}")
}

/// The part of a page between two texts.
fn between<'a>(page: &'a str, from: &str, to: &str) -> &'a str {
    let rest = page.split_once(from).unwrap_or_else(|| panic!("{from} is not in {page}")).1;
    rest.split_once(to).unwrap_or_else(|| panic!("{to} is not in {rest}")).0
}

#[tokio::test]
async fn the_overview_shows_net_worth_bills_cash_flow_and_scores() {
    let world = World::new().await;
    let (_, mut browser) = robin(&world).await;
    let page = browser.get("/").await.good();
    // 5,234.56 + 40,000 - 1,200.50
    assert!(between(&page, "Net worth</a>", "</p>").contains("$44,034.06"), "{page}");
    for (name, amount) in [("Assets", "$45,234.56"), ("Debts", "-$1,200.50")] {
        assert!(between(&page, &format!("aria-label=\"{name}\""), "</header>").contains(amount));
    }
    assert!(between(&page, "id=\"bills\"", "</section>").contains("City Power"), "{page}");
    let income = between(&page, "<dt>Income received</dt>", "</dd>");
    assert!(income.contains("<span class=\"soft\">average $4,200</span>"), "{income}");
    // The change follows the chosen range.
    let since = |page: &str| {
        let head = between(page, "Net worth</a>", "</header>");
        between(head, "since <span class=\"unbroken\">", "</span>").to_owned()
    };
    assert_eq!(since(&page), "Mon 10 Mar 2025");
    assert_eq!(since(&browser.get("/?range=1m").await.good()), "Tue 10 Feb");
    let left = between(&page, "id=\"cash\"", "</section>");
    assert!(left.contains("$5,234.56") && left.contains("No bills are due before"), "{left}");
    let spent = between(&page, "id=\"spending\"", "</section>");
    assert!(spent.contains("$1,800.00") && spent.contains("average $1,890"), "{spent}");
    assert!(between(&page, "id=\"recent\"", "</section>").contains("Oak Street"), "{page}");
    let needs = between(&page, "id=\"needs\"", "</section>");
    assert!(needs.contains("Use it by") && !needs.contains("/approvals"), "{needs}");
    assert!(
        page.contains("Create goal")
            && between(&page, "id=\"scores\"", "</section>").contains("Overall")
    );
}

#[tokio::test]
async fn a_range_is_kept_in_the_url_marked_as_current_and_remembered() {
    let world = World::new().await;
    let (robin, mut browser) = robin(&world).await;
    let account = account_path(robin.account("Everyday").await, "");
    for path in ["/", account.as_str()] {
        let rows = async |browser: &mut Browser, range: &str| {
            let page = browser.get(&format!("{path}?range={range}")).await.good();
            let marked = format!("href=\"{path}?range={range}\" aria-current=\"true\"");
            (
                page.contains(&marked),
                between(&page, "over time, table", "</table>").matches("<tr>").count(),
            )
        };
        assert_eq!(rows(&mut browser, "1m").await, (true, 30));
        assert_eq!(rows(&mut browser, "1y").await, (true, 55));
        assert!(rows(&mut browser, "all").await.0);
        // The last range is remembered.
        for again in [path.to_owned(), format!("{path}?range=nonsense")] {
            let page = browser.get(&again).await.good();
            assert!(page.contains("?range=all\" aria-current=\"true\""), "{page}");
        }
    }
    let mut other = Browser::of(&world, &robin).await;
    let page = other.get("/").await.good();
    assert!(page.contains("?range=1y\" aria-current=\"true\""), "{page}");
}

#[tokio::test]
async fn a_person_without_accounts_is_told_what_to_do() {
    let world = World::new().await;
    let kim = world.person("kim@example.com").await;
    let mut browser = Browser::of(&world, &kim).await;
    let page = browser.get("/").await.good();
    assert!(page.contains("evenkeel demo") && page.contains("href=\"/docs/start\""), "{page}");
    assert!(!page.contains("$0.00"), "{page}");
    assert!(browser.get("/accounts").await.good().contains("No accounts yet"));
}

#[tokio::test]
async fn each_part_without_enough_data_says_what_it_waits_for() {
    let world = World::new().await;
    let kim = world.person("kim@example.com").await;
    kim.import(statement([checking("New").balance("2026-03-10T08:00:00Z", 5_000)])).await;
    insights::pipeline::run_all(&world.app).await.unwrap();
    let mut browser = Browser::of(&world, &kim).await;
    let page = browser.get("/").await.good();
    assert!(page.contains("The chart starts tomorrow"), "{page}");
    assert!(between(&page, "id=\"scores\"", "</section>").contains("Scores need"), "{page}");
    assert!(
        between(&page, "id=\"needs\"", "</section>").contains("Nothing needs your attention"),
        "{page}"
    );
    assert!(
        between(&page, "id=\"bills\"", "</section>").contains("after about three payments"),
        "{page}"
    );
    assert!(between(&page, "id=\"month\"", "</section>").contains("after your first full month"));
}

#[tokio::test]
async fn outdated_figures_are_marked_with_their_date() {
    let world = World::new().await;
    let (robin, mut browser) = robin(&world).await;
    let needs = async |browser: &mut Browser| {
        let page = browser.get("/").await.good();
        between(&page, "id=\"needs\"", "</section>").to_owned()
    };
    assert!(!needs(&mut browser).await.contains("Out of date"));
    world.advance_seconds(4 * 86_400);
    let attention = needs(&mut browser).await;
    assert!(
        attention.contains("Out of date") && attention.contains("Data from Tue 10 Mar"),
        "{attention}"
    );
    assert!(attention.contains("Import a newer statement"), "{attention}");
    let gold = account_path(robin.account("American Express Gold Card").await, "");
    assert!(browser.get(&gold).await.good().contains("No new data for more than three days"));
    assert!(browser.get("/accounts").await.good().contains("Out of date"));
}

#[tokio::test]
async fn a_goal_shows_its_progress() {
    let world = World::new().await;
    let (robin, mut browser) = robin(&world).await;
    let new = NewGoal {
        name: "A boat".to_owned(),
        kind: Kind::Purchase,
        status: Status::Active,
        target: base::Money::new(200_000, base::Currency::USD),
        saved_minor: 50_000,
        target_on: None,
        accounts: Vec::new(),
    };
    let id = goals::create(&world.app, &robin.caller, new).await.unwrap();
    let page = browser.get("/").await.good();
    let goals = between(&page, "id=\"goals\"", "</section>");
    assert!(goals.contains(&format!("href=\"/goals/{id}\"")), "{goals}");
    assert!(goals.contains("value=\"25\"") && goals.contains("$2,000.00"), "{goals}");
}

#[tokio::test]
async fn accounts_are_grouped_by_type_and_hidden_ones_are_behind_a_link() {
    let world = World::new().await;
    let (robin, mut browser) = robin(&world).await;
    let page = browser.get("/accounts").await.good();
    let cards = between(&page, "id=\"credit\"", "</section>");
    assert!(cards.contains("-$1,200.50") && cards.contains("American Express ••1009"), "{cards}");
    assert!(!page.contains("show=all"), "{page}");
    let everyday = robin.account("Everyday").await;
    browser.submit(&account_path(everyday, "/hide"), &[("hidden", "1")]).await.good();
    let page = browser.get("/accounts").await.good();
    assert!(!page.contains("Everyday") && page.contains("1 hidden or closed account"), "{page}");
    let page = browser.get("/accounts?show=all").await.good();
    assert!(between(&page, "id=\"depository\"", "</section>").contains("Hidden"), "{page}");
    let page = browser.submit(&account_path(everyday, "/hide"), &[("hidden", "0")]).await.good();
    assert!(page.contains("visible again") && page.contains("Hide account"), "{page}");
}

#[tokio::test]
async fn an_account_is_renamed_closed_and_reopened_by_forms() {
    let world = World::new().await;
    let (robin, mut browser) = robin(&world).await;
    let id = robin.account("Everyday").await;
    let page = browser.submit(&account_path(id, "/name"), &[("name", "Household")]).await.good();
    assert!(
        page.contains("<h1>Household</h1>") && page.contains("named Everyday by your bank"),
        "{page}"
    );
    assert!(
        page.contains("Oak Street Rent") && page.contains(&format!("/transactions?account={id}")),
        "{page}"
    );
    let page =
        browser.submit(&account_path(id, "/close"), &[("closed_on", "2026-03-01")]).await.good();
    assert!(page.contains("Closed on Sun 1 Mar") && page.contains("Reopen account"), "{page}");
    let again = browser.post(&account_path(id, "/close"), &[("closed_on", "2026-03-02")]).await;
    assert_eq!(again.status, StatusCode::BAD_REQUEST);
    assert!(again.text.contains("This account is already closed."), "{}", again.text);
    let page = browser.submit(&account_path(id, "/reopen"), &[]).await.good();
    assert!(page.contains("Close account"), "{page}");
    for (verb, fields, message) in [
        ("/close", [("closed_on", "2027-01-01")], "must not be after today"),
        ("/close", [("closed_on", "soon")], "such as 2026-03-10"),
        ("/close", [("closed_on", "")], "Enter the closing date"),
        ("/card", [("product", "amex-gold")], "must be a card"),
    ] {
        let page = browser.post(&account_path(id, verb), &fields).await;
        assert_eq!(page.status, StatusCode::BAD_REQUEST, "{verb} {fields:?}");
        assert!(page.text.contains(message), "{message}: {}", page.text);
    }
    let long = "x".repeat(81);
    let page = browser.post(&account_path(id, "/name"), &[("name", &long)]).await;
    assert!(
        page.text.contains("aria-invalid=\"true\"") && page.text.contains(&long),
        "{}",
        page.text
    );
}

#[tokio::test]
async fn a_person_can_choose_the_product_of_a_card() {
    let world = World::new().await;
    let (robin, mut browser) = robin(&world).await;
    let id = robin.account("American Express Gold Card").await;
    let page = browser.get(&account_path(id, "")).await.good();
    assert!(page.contains("value=\"amex-gold\" selected"), "{page}");
    let fields = [("product", "amex-platinum"), ("opened_on", "2024-05-01")];
    let page = browser.submit(&account_path(id, "/card"), &fields).await.good();
    assert!(page.contains("value=\"amex-platinum\" selected"), "{page}");
    assert!(page.contains("value=\"2024-05-01\""), "{page}");
    let page = browser.submit(&account_path(id, "/card"), &[("product", "")]).await.good();
    assert!(page.contains("None of these") && !page.contains("amex-gold\" selected"), "{page}");
}

#[tokio::test]
async fn names_with_markup_are_escaped() {
    let world = World::new().await;
    let mallory = world.person("mallory@example.com").await;
    let mut hostile = card(HOSTILE).with(txn("2026-03-01", -500, HOSTILE).from(HOSTILE).id("a"));
    hostile.institution_name = Some(HOSTILE.to_owned());
    hostile.mask = Some("<b>1".to_owned());
    let hostile = hostile.balance("2026-03-01T08:00:00Z", 100);
    mallory.import(statement([hostile])).await;
    let id = mallory.account(HOSTILE).await;
    let own = Some("<img src=x onerror=alert(1)>");
    let mut browser = Browser::of(&world, &mallory).await;
    for name in [None, own] {
        accounts::rename(&world.app, &mallory.caller, id, name).await.unwrap();
        for path in ["/".to_owned(), "/accounts".to_owned(), account_path(id, "")] {
            let page = browser.get(&path).await.good();
            assert!(page.contains("&lt;script&gt;alert(1)"), "{path}: {page}");
            for bad in ["<script>alert", "<b>1", "<img src", "\"'>"] {
                assert!(!page.contains(bad), "{path}: {bad}: {page}");
            }
        }
    }
}

#[tokio::test]
async fn another_persons_account_is_not_found() {
    let world = World::new().await;
    let (robin, _) = robin(&world).await;
    let kim = world.person("kim@example.com").await;
    let mut browser = Browser::of(&world, &kim).await;
    let id = robin.account("Everyday").await;
    let before = accounts::get(&world.app, &robin.caller, id).await.unwrap();
    let fields = [("name", "Mine"), ("hidden", "1"), ("closed_on", "2026-03-01"), ("product", "")];
    for verb in ["/name", "/hide", "/close", "/reopen", "/card"] {
        let page = browser.post(&account_path(id, verb), &fields).await;
        assert_eq!(page.status, StatusCode::NOT_FOUND, "{verb}: {}", page.text);
    }
    for path in
        [account_path(id, ""), "/accounts/acc_nonsense".to_owned(), "/accounts/x".to_owned()]
    {
        let page = browser.get(&path).await;
        assert_eq!(page.status, StatusCode::NOT_FOUND, "{path}");
        assert!(page.text.contains("Page not found"), "{path}");
    }
    let after = accounts::get(&world.app, &robin.caller, id).await.unwrap();
    assert_eq!(format!("{after:?}"), format!("{before:?}"));
}

#[tokio::test]
async fn hidden_amounts_are_nowhere_on_the_pages() {
    let world = World::new().await;
    let (robin, mut browser) = robin(&world).await;
    browser.post("/view", &[("hide", "1"), ("next", "/")]).await;
    let account = account_path(robin.account("Everyday").await, "");
    for path in ["/", "/accounts", account.as_str()] {
        let page = browser.get(path).await.good();
        assert!(page.contains("$•••"), "{page}");
        let digits = page
            .match_indices('$')
            .filter(|(at, _)| page[at + 1..].starts_with(|it: char| it.is_ascii_digit()));
        assert_eq!(digits.count(), 0, "{page}");
    }
}
