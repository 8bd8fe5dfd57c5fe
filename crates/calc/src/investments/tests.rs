//! Tests of holdings: the worked example, edge cases, and properties.

use std::collections::BTreeSet;

use base::draft::{AssetClass, SecurityKind};
use base::{AccountId, Currency, Date, Fixed9, Percent, SecurityId, date_from_days};
use proptest::prelude::*;

use super::*;

const TODAY: i64 = 20_000;

fn today() -> Date {
    date_from_days(TODAY)
}

fn days_ago(days: i64) -> Option<Timestamp> {
    Timestamp::from_second((TODAY - days) * 86_400 + 72_000).ok()
}

fn account(number: u8) -> AccountId {
    AccountId::from_bytes([number; 16])
}

fn security(number: u8) -> SecurityId {
    SecurityId::from_bytes([100 + number; 16])
}

fn fixed(text: &str) -> Fixed9 {
    Fixed9::parse(text).unwrap()
}

fn position(number: u8, symbol: &str, quantity: &str, price: Option<&str>) -> Position {
    Position {
        account_id: account(1),
        security_id: security(number),
        symbol: Some(symbol.to_owned()),
        name: symbol.to_owned(),
        kind: SecurityKind::Equity,
        asset_class: AssetClass::Equity,
        currency: Currency::USD,
        quantity: fixed(quantity),
        price: price.map(fixed),
        previous_close: None,
        priced_at: days_ago(0),
        institution_value_minor: None,
        cost_basis_minor: None,
    }
}

fn cash(number: u8, amount: &str) -> Position {
    Position {
        kind: SecurityKind::Cash,
        asset_class: AssetClass::Cash,
        symbol: None,
        ..position(number, "cash", amount, None)
    }
}

fn balance(number: u8, balance_minor: i64) -> AccountBalance {
    AccountBalance { account_id: account(number), currency: Currency::USD, balance_minor }
}

fn rates() -> Rates {
    let mut rates = Rates::new(Currency::USD);
    rates.set(Currency::EUR, fixed("1.1"));
    rates
}

fn portfolio_of(positions: &[Position], accounts: &[AccountBalance]) -> Portfolio {
    portfolio_in_view(positions, accounts, &View::default())
}

fn portfolio_in_view(
    positions: &[Position],
    accounts: &[AccountBalance],
    view: &View,
) -> Portfolio {
    let prices = BTreeMap::new();
    let scope = Scope { positions, accounts, prices: &prices, rates: &rates(), today: today() };
    portfolio(&scope, view)
}

#[test]
fn a_newer_price_replaces_the_institutions_but_does_not_appear_as_cash() {
    let held = position(1, "VTI", "2", Some("100"));
    let newest =
        Price { price: fixed("110"), previous_close: Some(fixed("100")), at: days_ago(0).unwrap() };
    let prices = BTreeMap::from([(security(1), newest)]);
    let (positions, accounts) = ([held], [balance(1, 25_000)]);
    let scope = Scope {
        positions: &positions,
        accounts: &accounts,
        prices: &prices,
        rates: &rates(),
        today: today(),
    };
    let groups = portfolio(&scope, &View::default()).groups;
    let holdings: Vec<&Holding> = groups.iter().flat_map(|it| &it.holdings).collect();
    let shown = (holdings[0].last_price, holdings[0].last_price_at, holdings[0].day_change_minor);
    assert_eq!(shown, (Some(fixed("110")), days_ago(0), Some(2_000)));
    assert_eq!(holdings[0].current_value_minor, Some(22_000));
    // The balance was stated when the shares were worth 200.00.
    assert_eq!(holdings[1].current_value_minor, Some(5_000));
}

#[test]
fn the_newer_of_two_prices_keeps_a_close_of_its_own_day() {
    let price = |text, close: Option<&str>, days| Price {
        price: fixed(text),
        previous_close: close.map(fixed),
        at: days_ago(days).unwrap(),
    };
    let (old, new) = (price("1", Some("9"), 1), price("2", None, 0));
    assert_eq!(newer(old, new), new, "a close of another day is not used");
    assert_eq!(newer(new, old), new);
    let earlier = Price { at: Timestamp::from_second(TODAY * 86_400).unwrap(), ..old };
    assert_eq!(newer(new, earlier), Price { previous_close: Some(fixed("9")), ..new });
    let tied = price("3", None, 0);
    assert_eq!((newer(new, tied), newer(tied, new)), (tied, new), "the second wins a tie");
}

fn rows(portfolio: &Portfolio) -> Vec<&Holding> {
    portfolio.groups.iter().flat_map(|it| &it.holdings).collect()
}

fn worked_example() -> Vec<Position> {
    let apple = Position {
        previous_close: Some(fixed("198")),
        cost_basis_minor: Some(150_000),
        ..position(1, "AAPL", "10", Some("200"))
    };
    vec![apple, position(2, "XYZ", "5", Some("10")), cash(3, "120")]
}

#[test]
fn the_worked_example_comes_out_to_the_cent() {
    let portfolio = portfolio_of(&worked_example(), &[balance(1, 217_000)]);
    let rows = rows(&portfolio);
    let values: Vec<_> = rows.iter().map(|it| it.current_value_minor).collect();
    assert_eq!(values, [Some(200_000), Some(5_000), Some(12_000)]);
    let changes: Vec<_> = rows.iter().map(|it| it.day_change_minor).collect();
    assert_eq!(changes, [Some(2_000), None, Some(0)]);
    let shares: Vec<_> = rows.iter().map(|it| it.percent_of_account).collect();
    assert_eq!(shares, [Some(Percent(9_217)), Some(Percent(230)), Some(Percent(553))]);
    assert_eq!(rows[0].average_cost_basis, Some(fixed("150")));
    assert_eq!(rows[0].day_change_percent, Some(Percent(101)));
    assert_eq!(rows[0].total_gain_loss_percent, Some(Percent(3_333)));
    assert_eq!(rows[1].total_gain_loss_minor, None);
    assert_eq!(
        portfolio.account_total,
        Total {
            current_value_minor: Some(217_000),
            day_change_minor: Some(2_000),
            day_change_percent: Some(Percent(95)),
            cost_basis_total_minor: Some(162_000),
            total_gain_loss_minor: Some(50_000),
            total_gain_loss_percent: Some(Percent(3_086)),
        }
    );
    assert!(portfolio.over_itemized.is_empty());
}

#[test]
fn one_security_in_two_accounts_is_one_row_and_one_unknown_basis_makes_its_basis_unknown() {
    let here = Position { cost_basis_minor: Some(1_000), ..position(1, "A", "1.5", Some("10")) };
    let there = Position { account_id: account(2), quantity: fixed("0.5"), ..here.clone() };
    let both = portfolio_of(&[here.clone(), there.clone()], &[]);
    assert_eq!(rows(&both)[0].quantity, fixed("2"));
    assert_eq!(rows(&both)[0].cost_basis_total_minor, Some(2_000));
    let unknown = Position { cost_basis_minor: None, ..there };
    let both = portfolio_of(&[here, unknown], &[]);
    assert_eq!(rows(&both).len(), 1);
    assert_eq!(rows(&both)[0].cost_basis_total_minor, None);
    assert_eq!(rows(&both)[0].current_value_minor, Some(2_000));
}

#[test]
fn the_rest_of_a_balance_is_a_row_without_a_gain() {
    let portfolio = portfolio_of(&[position(1, "A", "1", Some("10"))], &[balance(1, 1_250)]);
    let rest = rows(&portfolio)[1];
    assert_eq!((rest.name.as_str(), rest.current_value_minor), ("Cash / unitemised", Some(250)));
    assert_eq!((rest.unitemised_in, rest.quantity), (Some(account(1)), fixed("2.5")));
    assert_eq!((rest.total_gain_loss_minor, rest.day_change_minor), (None, None));
    assert_eq!(portfolio.account_total.current_value_minor, Some(1_250));
    assert_eq!(portfolio.account_total.total_gain_loss_minor, None);
    let over = portfolio_of(&[position(1, "A", "1", Some("10"))], &[balance(1, 900)]);
    assert_eq!(over.account_total.current_value_minor, Some(1_000));
    assert_eq!(over.over_itemized, [account(1)]);
}

#[test]
fn a_price_that_fell_since_the_last_sync_does_not_turn_into_cash() {
    let fell =
        Position { institution_value_minor: Some(1_000), ..position(1, "A", "1", Some("9")) };
    let portfolio = portfolio_of(&[fell], &[balance(1, 1_000)]);
    assert_eq!(rows(&portfolio).len(), 1);
    assert_eq!(portfolio.account_total.current_value_minor, Some(900));
}

#[test]
fn the_rest_of_a_balance_is_in_the_currency_of_the_account() {
    let euro = Position { currency: Currency::EUR, ..position(1, "SAP", "1", Some("100")) };
    let portfolio = portfolio_of(&[euro], &[balance(1, 11_500)]);
    assert_eq!(rows(&portfolio)[1].current_value_minor, Some(500));
    assert_eq!(portfolio.account_total.current_value_minor, Some(11_500));
}

#[test]
fn a_position_without_an_exchange_rate_has_its_own_values_but_is_in_no_total() {
    let franc = Currency::parse("CHF").unwrap();
    let swiss = Position {
        currency: franc,
        cost_basis_minor: Some(500),
        ..position(1, "NESN", "1", Some("10"))
    };
    let euro = Position { currency: Currency::EUR, ..position(2, "SAP", "1", Some("100")) };
    let portfolio = portfolio_of(&[swiss, euro], &[]);
    let rows = rows(&portfolio);
    assert_eq!(rows[0].percent_of_account, Some(Percent(10_000)));
    assert_eq!(rows[1].total_gain_loss_minor, Some(500));
    assert_eq!(rows[1].percent_of_account, None);
    assert_eq!(portfolio.account_total.current_value_minor, Some(11_000));
    assert_eq!(portfolio.account_total.total_gain_loss_minor, None);
}

#[test]
fn an_old_price_has_a_value_but_no_day_change() {
    let change = |priced_at| {
        let priced = Position {
            previous_close: Some(fixed("9")),
            priced_at,
            ..position(1, "A", "2", Some("10"))
        };
        rows(&portfolio_of(&[priced], &[]))[0].day_change_minor
    };
    assert_eq!(change(days_ago(4)), Some(200));
    assert_eq!(change(days_ago(5)), None);
    assert_eq!(change(None), None);
}

#[test]
fn a_short_position_loses_when_the_price_rises() {
    let short = Position {
        previous_close: Some(fixed("100")),
        cost_basis_minor: Some(-30_000),
        ..position(1, "A", "-2", Some("110"))
    };
    let portfolio = portfolio_of(&[short], &[]);
    let row = rows(&portfolio)[0];
    assert_eq!((row.current_value_minor, row.day_change_minor), (Some(-22_000), Some(-2_000)));
    assert_eq!(row.day_change_percent, Some(Percent(-1_000)));
    assert_eq!(row.average_cost_basis, Some(fixed("150")));
    assert_eq!((row.total_gain_loss_minor, row.total_gain_loss_percent), (Some(8_000), None));
    assert_eq!(row.percent_of_account, None);
    assert_eq!(portfolio.account_total.day_change_minor, Some(-2_000));
    assert_eq!(portfolio.account_total.day_change_percent, None);
}

#[test]
fn unknown_values_come_last_in_either_order_and_ties_are_sorted_by_symbol() {
    let symbols = |descending| {
        let mut nameless = position(9, "", "1", Some("5"));
        nameless.symbol = None;
        let positions = [
            nameless,
            position(4, "none", "1", None),
            position(3, "b", "1", Some("5")),
            position(2, "A", "1", Some("5")),
            position(1, "c", "1", Some("7")),
        ];
        let view = View { descending, ..View::default() };
        let portfolio = portfolio_in_view(&positions, &[], &view);
        let symbol = |it: &&Holding| it.symbol.clone().unwrap_or("-".to_owned());
        rows(&portfolio).iter().map(symbol).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(symbols(true), "c A b - none");
    assert_eq!(symbols(false), "A b - c none");
}

#[test]
fn an_empty_scope_has_no_totals_rather_than_zeros() {
    let portfolio = portfolio_of(&[], &[]);
    assert!(portfolio.groups.is_empty());
    assert_eq!(portfolio.account_total.current_value_minor, None);
    assert_eq!(portfolio.account_total.day_change_percent, None);
}

fn any_position() -> impl Strategy<Value = Position> {
    let price = || prop::option::weighted(0.8, (0..500_000_i128).prop_map(|it| it * 1_000_000));
    let numbers = (-5_000..50_000_i128, price(), price(), 0..8_i64);
    let money = prop::option::weighted(0.6, -10_000..1_000_000_i64);
    (0..12_u8, 1..4_u8, numbers, money.clone(), money).prop_map(|it| {
        let (number, holder, numbers, basis, value) = it;
        let classes = AssetClass::ALL;
        let currencies = [Currency::USD, Currency::EUR, Currency::parse("CHF").unwrap()];
        // The details of a security are derived from its number, so that all positions agree.
        let class = classes[usize::from(number) % classes.len()];
        Position {
            account_id: account(holder),
            asset_class: class,
            kind: if class == AssetClass::Cash { SecurityKind::Cash } else { SecurityKind::Equity },
            currency: currencies[usize::from(number) % 5 % 3],
            quantity: Fixed9::from_billionths(numbers.0 * 10_000_000),
            price: numbers.1.map(Fixed9::from_billionths),
            previous_close: numbers.2.map(Fixed9::from_billionths),
            priced_at: days_ago(numbers.3),
            institution_value_minor: value,
            cost_basis_minor: basis,
            ..position(number, ["a", "B", "c"][usize::from(number) % 3], "1", None)
        }
    })
}

fn any_scope() -> impl Strategy<Value = (Vec<Position>, Vec<AccountBalance>)> {
    let accounts = prop::collection::vec(-10_000..5_000_000_i64, 0..4);
    let accounts = accounts.prop_map(|balances| {
        balances.into_iter().enumerate().map(|(at, minor)| balance(at as u8 + 1, minor)).collect()
    });
    (prop::collection::vec(any_position(), 0..20), accounts)
}

fn any_sort() -> impl Strategy<Value = SortBy> {
    use SortBy::*;
    prop::sample::select(vec![
        Symbol,
        LastPrice,
        DayChange,
        TotalGainLoss,
        CurrentValue,
        Quantity,
        CostBasisTotal,
    ])
}

/// The visible sort key, for holdings of one currency.
fn visible_key(holding: &Holding, sort_by: SortBy) -> Option<(String, i128)> {
    let number = match sort_by {
        SortBy::Symbol => return holding.symbol.as_ref().map(|it| (it.to_lowercase(), 0)),
        SortBy::LastPrice => holding.last_price.map(Fixed9::billionths),
        SortBy::DayChange => holding.day_change_minor.map(i128::from),
        SortBy::TotalGainLoss => holding.total_gain_loss_minor.map(i128::from),
        SortBy::CurrentValue => holding.current_value_minor.map(i128::from),
        SortBy::Quantity => Some(holding.quantity.billionths()),
        SortBy::CostBasisTotal => holding.cost_basis_total_minor.map(i128::from),
    };
    number.map(|it| (String::new(), it))
}

/// Gives all positions of one security the same price, as stored securities have.
fn one_price_each(positions: Vec<Position>) -> Vec<Position> {
    let priced = |it: Position| {
        let billionths = i128::from(it.security_id.as_bytes()[0]) * 7_000_000;
        let price = Some(Fixed9::from_billionths(billionths));
        Position { price, previous_close: None, priced_at: days_ago(0), ..it }
    };
    positions.into_iter().map(priced).collect()
}

proptest! {
    #[test]
    fn the_total_value_is_the_sum_of_the_rows((positions, accounts) in any_scope()) {
        let portfolio = portfolio_of(&positions, &accounts);
        let rates = rates();
        let worth = |it: &&Holding| rates.to_base(it.current_value_minor?, it.currency);
        let known: Vec<i64> = rows(&portfolio).iter().filter_map(worth).collect();
        let sum = (!known.is_empty()).then(|| known.iter().sum::<i64>());
        prop_assert_eq!(portfolio.account_total.current_value_minor, sum);
        let group_values: Vec<i64> = portfolio.groups.iter().filter_map(|it| it.value_minor).collect();
        prop_assert_eq!(group_values.iter().sum::<i64>(), sum.unwrap_or(0));
    }

    #[test]
    fn shares_add_up_to_exactly_one_hundred((positions, accounts) in any_scope()) {
        let portfolio = portfolio_of(&positions, &accounts);
        let shares: Vec<i64> =
            rows(&portfolio).iter().filter_map(|it| it.percent_of_account).map(|it| it.0).collect();
        let expected = if shares.is_empty() { 0 } else { 10_000 };
        prop_assert_eq!(shares.iter().sum::<i64>(), expected);
        let whole = portfolio.account_total.current_value_minor;
        prop_assert_eq!(shares.is_empty(), whole.is_none_or(|it| it <= 0));
    }

    #[test]
    fn a_missing_cost_basis_changes_no_value(
        (mut positions, accounts) in any_scope(), pick: prop::sample::Index,
    ) {
        let before = portfolio_of(&positions, &accounts).account_total;
        if !positions.is_empty() {
            let at = pick.index(positions.len());
            positions[at].cost_basis_minor = None;
        }
        let after = portfolio_of(&positions, &accounts).account_total;
        prop_assert_eq!(before.current_value_minor, after.current_value_minor);
        prop_assert_eq!(before.day_change_minor, after.day_change_minor);
        prop_assert_eq!(before.day_change_percent, after.day_change_percent);
    }

    #[test]
    fn a_holding_without_a_value_changes_no_total((mut positions, accounts) in any_scope()) {
        let before = portfolio_of(&positions, &accounts).account_total;
        positions.push(Position {
            cost_basis_minor: Some(77_700),
            previous_close: Some(fixed("3")),
            ..position(50, "NEW", "7", None)
        });
        prop_assert_eq!(before, portfolio_of(&positions, &accounts).account_total);
    }

    #[test]
    fn a_split_changes_neither_value_nor_basis_nor_gain(
        position in any_position(), price in 0..1_000_000_i128, k in 1..20_i128,
    ) {
        let priced = |quantity: i128, price: i128| {
            let split = Position {
                quantity: Fixed9::from_billionths(quantity),
                price: Some(Fixed9::from_billionths(price)),
                ..position.clone()
            };
            let portfolio = portfolio_of(&[split], &[]);
            let row = rows(&portfolio)[0];
            (row.current_value_minor, row.cost_basis_total_minor, row.total_gain_loss_minor)
        };
        let quantity = position.quantity.billionths();
        let before = priced(quantity, price * k * 1_000);
        prop_assert_eq!(before, priced(quantity * k, price * 1_000));
    }

    #[test]
    fn descending_reverses_known_keys_and_keeps_unknown_ones_last(
        (mut positions, _) in any_scope(), sort_by in any_sort(),
    ) {
        positions.iter_mut().for_each(|it| {
            it.currency = Currency::USD;
            it.asset_class = AssetClass::Other;
        });
        let keys = |descending| {
            let view = View { asset_class: None, sort_by, descending };
            let portfolio = portfolio_in_view(&positions, &[], &view);
            rows(&portfolio).iter().map(|it| visible_key(it, sort_by)).collect::<Vec<_>>()
        };
        let (rising, falling) = (keys(false), keys(true));
        let known = |keys: &[Option<_>]| keys.iter().flatten().cloned().collect::<Vec<_>>();
        prop_assert!(known(&rising).is_sorted());
        let mut reversed = known(&falling);
        reversed.reverse();
        prop_assert_eq!(known(&rising), reversed);
        for keys in [rising, falling] {
            prop_assert!(keys.is_sorted_by_key(Option::is_none));
        }
    }

    #[test]
    fn every_security_is_in_exactly_one_group_and_a_filter_only_hides(
        (positions, accounts) in any_scope(), class in prop::sample::select(AssetClass::ALL),
    ) {
        let all = portfolio_of(&positions, &accounts);
        let rows = rows(&all);
        let itemized = rows.iter().filter(|it| it.unitemised_in.is_none());
        let ids: Vec<_> = itemized.map(|it| it.security_id).collect();
        let distinct: BTreeSet<_> = ids.iter().copied().collect();
        prop_assert_eq!(ids.len(), distinct.len());
        prop_assert_eq!(distinct, positions.iter().map(|it| it.security_id).collect());
        let view = View { asset_class: Some(class), ..View::default() };
        let filtered = portfolio_in_view(&positions, &accounts, &view);
        prop_assert_eq!(filtered.account_total, all.account_total);
        let kept: Vec<_> = all.groups.into_iter().filter(|it| it.asset_class == class).collect();
        prop_assert_eq!(filtered.groups, kept);
    }

    #[test]
    fn the_order_of_positions_does_not_matter(
        ((positions, accounts), shuffled) in any_scope().prop_flat_map(|it| {
            let shuffled = Just(it.0.clone()).prop_shuffle();
            (Just(it), shuffled)
        })
    ) {
        let (listed, shuffled) = (one_price_each(positions), one_price_each(shuffled));
        prop_assert_eq!(portfolio_of(&listed, &accounts), portfolio_of(&shuffled, &accounts));
    }
}
