//! Investments over all accounts: which accounts count, the order of holdings, and the currency of totals.

use base::AccountId;
use base::draft::{AssetClass, Statement};
use calc::investments::{SortBy, View};
use service::access::keys::NewKey;
use service::ledger::accounts;
use service::ledger::investments::{self, Investments, parse_sort};
use service::ledger::performance;
use service::ledger::spans::Span;
use service::{Error, Scopes};
use testkit::draft::{brokerage, checking, position, rate, statement, txn};
use testkit::{Person, World, new_key};
use wire::v1::{self, Scope};

use crate::{is_not_found, param};

async fn list(
    world: &World,
    person: &Person,
    account: Option<AccountId>,
    view: View,
) -> Investments {
    investments::list(&world.app, &person.caller, account, view).await.unwrap()
}

fn symbols(investments: &Investments) -> Vec<String> {
    let groups = investments.portfolio.groups.iter();
    let all = groups.flat_map(|it| it.holdings.iter());
    all.map(|it| it.symbol.clone().unwrap_or_else(|| it.name.clone())).collect()
}

/// Equities worth 300.00, 1,000.00 and an unknown amount, and bonds worth 725.00. Positions of unknown cost have no
/// gain.
async fn household(world: &World) -> Person {
    let robin = world.someone().await;
    let positions = [
        position("AAPL", "2").priced("150", "148.5").cost(20_000),
        position("VTI", "4").priced("250", "251"),
        position("ODD", "1"),
        position("BND", "10").priced("72.5", "72.5").cost(80_000).class(AssetClass::FixedIncome),
    ];
    robin.import(statement([brokerage("Broker").holding(positions)])).await;
    robin
}

#[tokio::test]
async fn unknown_values_are_null_and_left_out_of_both_sides_of_a_gain() {
    let world = World::new().await;
    let robin = household(&world).await;
    let found = list(&world, &robin, None, View::default()).await;
    let shown = v1::Investments::from(&found);
    let equity = &shown.groups[0];
    assert_eq!(equity.asset_class, "equity");
    let text = |it: &Option<wire::json::Number>| it.as_ref().map(|it| it.as_str().to_owned());
    let vti = &equity.holdings[0];
    assert_eq!(text(&vti.current_value).as_deref(), Some("1000.00"));
    assert_eq!((text(&vti.cost_basis_total), text(&vti.total_gain_loss)), (None, None));
    assert_eq!(text(&vti.day_change).as_deref(), Some("-4.00"));
    let odd = &equity.holdings[2];
    assert_eq!((text(&odd.current_value), text(&odd.percent_of_account)), (None, None));
    let total = &shown.account_total;
    assert_eq!(text(&total.current_value).as_deref(), Some("2025.00"));
    // Bought for 200.00 and 800.00, worth 300.00 and 725.00; the others are left out.
    assert_eq!(text(&total.cost_basis_total).as_deref(), Some("1000.00"));
    assert_eq!(text(&total.total_gain_loss).as_deref(), Some("25.00"));
    assert_eq!(text(&total.total_gain_loss_percent).as_deref(), Some("2.50"));
}

#[tokio::test]
async fn unknown_values_are_sorted_last_in_both_directions() {
    let world = World::new().await;
    let robin = household(&world).await;
    let sorted = async |column: &str, descending| {
        let view = View {
            asset_class: Some(AssetClass::Equity),
            sort_by: parse_sort(column).unwrap(),
            descending,
        };
        symbols(&list(&world, &robin, None, view).await)
    };
    for (column, expected) in [
        ("symbol", ["VTI", "ODD", "AAPL"]),
        ("last_price", ["VTI", "AAPL", "ODD"]),
        ("current_value", ["VTI", "AAPL", "ODD"]),
        ("day_change", ["AAPL", "VTI", "ODD"]),
        ("quantity", ["VTI", "AAPL", "ODD"]),
        ("total_gain_loss", ["AAPL", "ODD", "VTI"]),
        ("cost_basis_total", ["AAPL", "ODD", "VTI"]),
    ] {
        assert_eq!(sorted(column, true).await, expected, "{column}");
    }
    assert_eq!(sorted("current_value", false).await, ["AAPL", "VTI", "ODD"]);
    assert_eq!(sorted("day_change", false).await, ["VTI", "AAPL", "ODD"]);
    assert_eq!(param(parse_sort("name")), "sort_by");
}

#[tokio::test]
async fn a_filter_by_asset_class_does_not_change_the_total() {
    let world = World::new().await;
    let robin = household(&world).await;
    let all = list(&world, &robin, None, View::default()).await;
    let classes: Vec<&str> =
        all.portfolio.groups.iter().map(|it| it.asset_class.as_str()).collect();
    assert_eq!(classes, ["equity", "fixed_income"], "the class with the highest value comes first");
    let view = View { asset_class: Some(AssetClass::FixedIncome), ..View::default() };
    let bonds = list(&world, &robin, None, view).await;
    assert_eq!(symbols(&bonds), ["BND"]);
    assert_eq!(bonds.portfolio.account_total, all.portfolio.account_total);
    let view = View { asset_class: Some(AssetClass::Crypto), ..View::default() };
    assert!(list(&world, &robin, None, view).await.portfolio.groups.is_empty());
}

#[tokio::test]
async fn only_open_visible_investment_accounts_count_unless_one_is_requested() {
    let world = World::new().await;
    let robin = world.someone().await;
    let holding = |symbol: &str| [position(symbol, "1").priced("100", "100")];
    robin
        .import(statement([
            brokerage("Open").holding(holding("OPEN")),
            brokerage("Hidden").holding(holding("HIDDEN")),
            brokerage("Closed").holding(holding("CLOSED")).closed_on("2026-01-01"),
            checking("Everyday").balance("2026-03-09T08:00:00Z", 50_000),
        ]))
        .await;
    let hidden = robin.account("Hidden").await;
    accounts::set_hidden(&world.app, &robin.caller, hidden, true).await.unwrap();
    assert_eq!(symbols(&list(&world, &robin, None, View::default()).await), ["OPEN"]);
    for (name, symbol) in [("Hidden", "HIDDEN"), ("Closed", "CLOSED")] {
        let id = robin.account(name).await;
        let found = list(&world, &robin, Some(id), View::default()).await;
        assert_eq!(symbols(&found), [symbol]);
        assert_eq!(found.portfolio.account_total.current_value_minor, Some(10_000));
    }
    let everyday = robin.account("Everyday").await;
    let none = list(&world, &robin, Some(everyday), View::default()).await;
    assert!(none.portfolio.groups.is_empty());
    assert_eq!(none.portfolio.account_total.current_value_minor, None);
}

#[tokio::test]
async fn the_balance_beyond_the_positions_is_a_separate_row() {
    let world = World::new().await;
    let robin = world.someone().await;
    let account = brokerage("Broker")
        .holding([position("VTI", "1").priced("100", "100")])
        .balance("2026-03-09T08:00:00Z", 12_550);
    robin.import(statement([account])).await;
    let found = list(&world, &robin, None, View::default()).await;
    assert_eq!(symbols(&found), ["VTI", "Cash / unitemised"]);
    assert_eq!(found.portfolio.account_total.current_value_minor, Some(12_550));
}

#[tokio::test]
async fn totals_are_in_the_base_currency_at_the_latest_rate() {
    let world = World::new().await;
    let robin = world.someone().await;
    let mut foreign = position("ASML", "1").priced("600", "600");
    foreign.security.currency = base::Currency::EUR;
    let mut strange = position("NOVN", "1").priced("90", "90");
    strange.security.currency = base::Currency::parse("CHF").unwrap();
    let account =
        brokerage("Broker").holding([foreign, strange, position("VTI", "1").priced("100", "100")]);
    let rates = vec![
        rate("EUR", "USD", "2026-03-08", "1.10"),
        rate("EUR", "USD", "2026-03-01", "9.99"),
        rate("EUR", "GBP", "2026-03-09", "0.84"),
    ];
    robin.import(Statement { rates, ..statement([account]) }).await;
    let found = list(&world, &robin, None, View::default()).await;
    assert_eq!(found.base_currency, base::Currency::USD);
    // There is no rate for francs, so the holding is shown but not included in the total.
    assert_eq!(symbols(&found), ["ASML", "VTI", "NOVN"]);
    assert_eq!(found.portfolio.account_total.current_value_minor, Some(76_000));
}

#[tokio::test]
async fn investments_are_hidden_from_other_people_and_keys_without_access() {
    let world = World::new().await;
    let (robin, kim) = (household(&world).await, world.someone().await);
    let broker = robin.account("Broker").await;
    let read = |caller, account| investments::list(&world.app, caller, account, View::default());
    let found = list(&world, &kim, None, View::default()).await;
    assert!(found.portfolio.groups.is_empty());
    assert!(matches!(read(&kim.caller, Some(broker)).await, Err(Error::NotFound(_))));
    let limited = robin.key(NewKey { accounts: Some(vec![]), ..new_key() }).await;
    assert!(read(&limited.caller, None).await.unwrap().portfolio.groups.is_empty());
    is_not_found(read(&limited.caller, Some(broker)).await.map(|_| ()));
    let scopes: Scopes = [Scope::AccountsRead].into_iter().collect();
    let blind = robin.key(NewKey { scopes, ..new_key() }).await;
    let refused = read(&blind.caller, None).await;
    assert!(matches!(refused, Err(Error::Forbidden(it)) if it.has(Scope::InvestmentsRead)));
    assert_eq!(View::default().sort_by, SortBy::CurrentValue);
}

/// A purchase and a contribution have the same category; only the contribution was put in.
#[tokio::test]
async fn contributions_to_a_retirement_plan_are_no_gain() {
    const INTO: &str = "TRANSFER_IN_INVESTMENT_AND_RETIREMENT_FUNDS";
    const OUT_OF: &str = "TRANSFER_OUT_INVESTMENT_AND_RETIREMENT_FUNDS";
    let world = World::new().await;
    let robin = world.someone().await;
    let plan = brokerage("401k")
        .past_balance("2026-01-02", 1_000_000)
        .with(txn("2026-02-02", 50_000, "CONTRIBUTION EMPLOYER MATCH").category(INTO))
        .with(txn("2026-02-03", -40_000, "BOUGHT INDEX FUND").category(OUT_OF))
        .with(txn("2026-02-20", 15_000, "SOLD BOND FUND").category(INTO))
        .with(txn("2026-02-25", -20_000, "Withdrawal").category(OUT_OF))
        .balance("2026-03-10T11:00:00Z", 1_060_000);
    robin.import(statement([plan])).await;
    let found = performance::get(&world.app, &robin.caller, None, Span::All).await.unwrap();
    let found = found.performance.unwrap();
    assert_eq!((found.net_flow_minor, found.gain_minor), (30_000, 30_000));
}
