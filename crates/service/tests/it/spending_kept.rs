//! Figures of spending that a process keeps are the same as those that another process computes, after each change.

use base::Date;
use base::category::Category;
use base::draft::AccountKind;
use service::App;
use service::classify::corrections;
use service::classify::overrides::Override;
use service::ingest::account_types;
use service::insights::pipeline;
use service::insights::spending::{self, GroupBy, Period, history};
use service::ledger::transactions::{self, Filter, Sort};
use service::ledger::{accounts, reference_rates, splits};
use service::platform::cursors::Page;
use testkit::draft::{checking, statement, txn};
use testkit::{Person, World, day};

use crate::listed;
use crate::spending::{RATES, household, query};
use crate::splits::parts;

/// Every kind of figure that is kept, as a text.
async fn figures(app: &App, robin: &Person) -> String {
    let (start, end): (Date, Date) = (day("2026-02-01"), day("2026-03-10"));
    let mut found = Vec::new();
    for group_by in [GroupBy::Category, GroupBy::Merchant, GroupBy::Account, GroupBy::Month] {
        let query = query("2026-02-01", "2026-03-10", group_by);
        let spending = spending::get(app, &robin.caller, &query).await.unwrap();
        found.push(serde_json::to_string(&spending).unwrap());
    }
    found.push(format!("{:?}", spending::months(app, &robin.caller, 6).await.unwrap()));
    let by_month = history::by_month(app, &robin.caller, end, 6, None).await.unwrap();
    found.push(format!("{by_month:?}"));
    let flow = history::money_flow(app, &robin.caller, Period { start, end }).await.unwrap();
    found.push(format!("{flow:?}"));
    found.push(lists(app, robin).await);
    found.join("\n")
}

/// The rows and totals of lists of spending, as a text.
async fn lists(app: &App, robin: &Person) -> String {
    let all = Filter { spending: true, ..Filter::default() };
    let everyday = Some(robin.account("Everyday").await);
    let filters = [
        Filter {
            start_on: Some(day("2026-02-01")),
            end_on: Some(day("2026-03-10")),
            ..all.clone()
        },
        Filter { category_tier1: Some("FOOD_AND_DRINK".to_owned()), ..all.clone() },
        Filter { counterparty: Some("Kroger".to_owned()), ..all.clone() },
        Filter { without_counterparty: true, ..all.clone() },
        Filter { account_id: everyday, ..all.clone() },
        Filter { q: Some("o".to_owned()), ..all.clone() },
        all,
    ];
    let mut found = String::new();
    for filter in &filters {
        let totals = transactions::totals(app, &robin.caller, filter).await.unwrap();
        found.push_str(&format!("{totals:?}"));
        let (start_on, end_on) = (Some(day("2026-02-01")), Some(day("2026-03-10")));
        let shown = Filter { start_on, end_on, ..filter.clone() };
        let days = transactions::totals_by_day(app, &robin.caller, &shown).await.unwrap();
        found.push_str(&format!("{days:?}"));
        for sort in [Sort::Newest, Sort::Largest] {
            let (page, query) = (Page { cursor: None, limit: 50 }, (filter, sort));
            let write = |row: &wire::v1::TransactionRow<'_>| found.push_str(row.description);
            let list = transactions::list_sorted(app, &robin.caller, query, page, write);
            let end = list.await.unwrap();
            found.push_str(&format!(" {:?}\n", end.total_count));
        }
    }
    found
}

/// Compares with a process that has kept nothing, and returns the figures.
async fn assert_current(world: &World, robin: &Person, change: &str) -> String {
    // Lists are kept before the recompute, which the figures begin with, and must not be shown after it.
    lists(&world.app, robin).await;
    let kept = figures(&world.app, robin).await;
    let fresh = figures(&world.other_process().await, robin).await;
    assert_eq!(kept, fresh, "after {change}");
    kept
}

#[tokio::test]
async fn kept_figures_of_spending_follow_each_change() {
    let world = World::new().await;
    let robin = world.someone().await;
    let (app, caller) = (&world.app, &robin.caller);
    robin.import(household()).await;
    let mut seen = vec![assert_current(&world, &robin, "an import").await];
    assert_eq!(assert_current(&world, &robin, "nothing").await, seen[0]);
    let rows = listed::all(app, caller, &Default::default()).await;
    let id = |text: &str| rows.iter().find(|it| it.description == text).unwrap().id;
    let visa = robin.account("Visa").await;

    let category = Category::parse("TRAVEL_FLIGHTS");
    let flights = Override { category, ..Override::default() };
    corrections::correct(app, caller, vec![id("KROGER")], flights).await.unwrap();
    seen.push(assert_current(&world, &robin, "a correction").await);
    let split = parts(&[(-600, "TRANSFER_OUT_SAVINGS"), (-400, "TRAVEL_FLIGHTS")]);
    splits::set(app, caller, id("SHELL OIL"), split).await.unwrap();
    seen.push(assert_current(&world, &robin, "a split").await);
    accounts::rename(app, caller, visa, Some("Blue card")).await.unwrap();
    seen.push(assert_current(&world, &robin, "another name").await);
    accounts::set_hidden(app, caller, visa, true).await.unwrap();
    seen.push(assert_current(&world, &robin, "hiding an account").await);
    accounts::set_hidden(app, caller, visa, false).await.unwrap();
    seen.push(assert_current(&world, &robin, "showing it again").await);
    account_types::set(app, caller, visa, AccountKind::Investment, None).await.unwrap();
    seen.push(assert_current(&world, &robin, "another kind of account").await);
    // Nothing is an exception of the sign, before or after.
    let category = "GENERAL_MERCHANDISE_BOOKSTORES_AND_NEWSSTANDS";
    let books = txn("2026-03-01", -2_000, "BOOKSHOP").category(category).id("books");
    robin.import(statement([checking("Study").with(books)])).await;
    seen.push(assert_current(&world, &robin, "another account").await);
    let study = robin.account("Study").await;
    account_types::set(app, caller, study, AccountKind::Investment, None).await.unwrap();
    seen.push(
        assert_current(&world, &robin, "another kind of an account without exceptions").await,
    );
    // Payments to a loan stop being spending when the loan is known, and no transaction changes.
    account_types::set(app, caller, study, AccountKind::Loan, Some("student")).await.unwrap();
    seen.push(assert_current(&world, &robin, "a loan that becomes known").await);
    let bistro = txn("2026-03-02", -10_000, "BISTRO").id("euro");
    robin.import(statement([checking("Euros").in_currency("EUR").with(bistro)])).await;
    seen.push(assert_current(&world, &robin, "spending without an exchange rate").await);
    reference_rates::import(app, RATES.as_bytes()).await.unwrap();
    pipeline::run_all(app).await.unwrap();
    seen.push(assert_current(&world, &robin, "an exchange rate").await);
    world.advance_seconds(40 * 86_400);
    seen.push(assert_current(&world, &robin, "a new month").await);
    let changes = seen.windows(2).filter(|it| it[0] != it[1]).count();
    assert_eq!(changes, seen.len() - 1, "each change is seen");
}
