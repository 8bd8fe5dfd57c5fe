//! One definition of income, spending and transfer: the summary, the income analysis, the spending aggregate and what the
//! pages call agree to the cent, on random households, also after they split transactions and link refunds.

use std::sync::atomic::{AtomicUsize, Ordering};

use base::draft::{AccountKind, Statement};
use base::{Currency, Money, date_from_days, days_from_date};
use jiff::ToSpan as _;
use proptest::prelude::*;
use proptest::sample::select;
use service::insights::income::{self, Income};
use service::insights::spending::{self, GroupBy, Period, Query, Totals, history};
use service::ledger::accounts;
use service::summary;
use testkit::draft::{Account, Txn, account, card, checking, rate, statement, txn};
use testkit::{Person, World};
use wire::v1;

use super::own_changes::{OwnChanges, any_changes};
use super::{day, recompute_all};
use crate::check_property;

const TODAY: &str = "2026-03-10";
/// The days before today on which the households have transactions.
const DAYS: i64 = 460;

/// The accounts of every household; which of them are hidden varies.
const NAMES: [&str; 7] =
    ["Everyday", "Rainy day", "Sapphire", "Quicksilver", "Car loan", "Zurich", "Fund"];

fn open(index: usize) -> Account {
    let mut opened = match index {
        0 => checking(NAMES[0]),
        1 => account(NAMES[1], AccountKind::Depository, "savings"),
        2 => card(NAMES[2]),
        3 => card(NAMES[3]).in_currency("EUR"),
        4 => account(NAMES[4], AccountKind::Loan, "auto"),
        5 => checking(NAMES[5]).in_currency("CHF"),
        _ => account(NAMES[6], AccountKind::Investment, "brokerage"),
    };
    opened.institution_name = [None, None, Some("Chase"), Some("Capital One"), None, None, None]
        [index]
        .map(str::to_owned);
    opened
}

/// Texts and categories from the source: purchases, refunds, payments to linked and other cards and loans, pay, gig work,
/// cash, friends, interest, fees, and senders that nobody knows.
const TEXTS: [(&str, &str); 26] = [
    ("KROGER #339", "FOOD_AND_DRINK_GROCERIES"),
    ("KROGER #339", ""),
    ("REFUND KROGER #339", ""),
    ("UBER *TRIP", ""),
    ("UBER *EATS", "FOOD_AND_DRINK_RESTAURANT"),
    ("NORTHWIND LLC", ""),
    ("ACME CORP PAYROLL", "INCOME_WAGES"),
    ("CHASE CREDIT CRD AUTOPAY", ""),
    ("SYNCHRONY BANK CC PYMT", ""),
    ("CREDIT CARD PAYMENT", "LOAN_PAYMENTS_CREDIT_CARD_PAYMENT"),
    ("PAYMENT THANK YOU", "LOAN_PAYMENTS_CREDIT_CARD_PAYMENT"),
    ("AUTO LOAN PAYMENT", "LOAN_PAYMENTS_CAR_PAYMENT"),
    ("NELNET STUDENT LN", "LOAN_PAYMENTS_STUDENT_LOAN_PAYMENT"),
    ("ONLINE TRANSFER TO SAVINGS", "TRANSFER_OUT_SAVINGS"),
    ("TRANSFER FROM CHECKING", "TRANSFER_IN_ACCOUNT_TRANSFER"),
    ("VANGUARD BUY", "TRANSFER_OUT_INVESTMENT_AND_RETIREMENT_FUNDS"),
    ("ZELLE FROM SAM", "TRANSFER_IN_OTHER_TRANSFER_IN"),
    ("ATM CASH DEPOSIT", ""),
    ("ATM WITHDRAWAL", "TRANSFER_OUT_WITHDRAWAL"),
    ("INTEREST PAID", "INCOME_INTEREST_EARNED"),
    ("IRS TREAS TAX REF", "INCOME_TAX_REFUND"),
    ("LENDINGCLUB", "LOAN_DISBURSEMENTS_PERSONAL"),
    ("INTEREST CHARGE", "BANK_FEES_INTEREST_CHARGE"),
    ("OAK STREET APARTMENTS", "RENT_AND_UTILITIES_RENT"),
    ("BLUE HARBOR", ""),
    ("ETSY PAYOUT", "INCOME_GIG_ECONOMY"),
];

/// Money that moves between two accounts; the second leg may be missing.
#[derive(Debug, Clone)]
struct Movement {
    from: usize,
    to: usize,
    days_ago: i64,
    lag: i64,
    minor: i64,
    has_second_leg: bool,
}

#[derive(Debug, Clone)]
struct TestHousehold {
    /// Account, days ago, amount, and an index in `TEXTS`.
    rows: Vec<(usize, i64, i64, usize)>,
    movements: Vec<Movement>,
    /// Amounts of a sender that pays on the 3rd of each month, the newest first.
    pay: Vec<i64>,
    hidden: Vec<usize>,
    changes: OwnChanges,
}

fn any_household() -> impl Strategy<Value = TestHousehold> {
    let cents = prop_oneof![1_i64..=300_000, select(&[2_410_i64, 5_000, 50_000][..])];
    let amount =
        (cents.clone(), any::<bool>()).prop_map(|(it, is_out)| if is_out { -it } else { it });
    let row = (0..NAMES.len(), 0..DAYS, amount, 0..TEXTS.len());
    let movement = (0..NAMES.len(), 0..NAMES.len(), 5..DAYS, -4_i64..=5, cents, any::<bool>());
    let movement = movement.prop_map(|(from, to, days_ago, lag, minor, has_second_leg)| Movement {
        from,
        to,
        days_ago,
        lag,
        minor,
        has_second_leg,
    });
    let pay = prop::collection::vec(select(&[400_000_i64, 400_000, 411_100][..]), 0..14);
    (
        prop::collection::vec(row, 0..70),
        prop::collection::vec(movement, 0..12),
        pay,
        prop::collection::vec(0..NAMES.len(), 0..3),
        any_changes(),
    )
        .prop_map(|(rows, movements, pay, hidden, changes)| TestHousehold {
            rows,
            movements,
            pay,
            hidden,
            changes,
        })
}

fn days_ago(days: i64) -> String {
    date_from_days(days_from_date(day(TODAY)) - days).to_string()
}

impl TestHousehold {
    fn statement(&self) -> Statement {
        let mut accounts: Vec<Account> = (0..NAMES.len()).map(open).collect();
        let mut add = |account: usize, row: Txn| {
            accounts[account] = accounts[account].clone().with(row);
        };
        for (index, (account, ago, minor, text)) in self.rows.iter().enumerate() {
            let (text, category) = TEXTS[*text];
            let row = txn(&days_ago(*ago), *minor, text).id(&format!("row {index}"));
            add(*account, if category.is_empty() { row } else { row.category(category) });
        }
        for (index, it) in self.movements.iter().enumerate() {
            let out = txn(&days_ago(it.days_ago), -it.minor, "ONLINE PAYMENT TO CARD OR ACCOUNT");
            add(it.from, out.id(&format!("out {index}")));
            if it.has_second_leg {
                let on = days_ago(it.days_ago - it.lag);
                add(it.to, txn(&on, it.minor, "PAYMENT RECEIVED").id(&format!("in {index}")));
            }
        }
        for (months, minor) in self.pay.iter().enumerate() {
            let on = day("2026-03-03").saturating_sub((months as i64).months()).to_string();
            add(0, txn(&on, *minor, "SUNDOWN LABS").id(&format!("pay {months}")));
        }
        let mut all = statement(accounts);
        for (ago, worth) in [(400, "1.2"), (200, "1.05"), (30, "0.93")] {
            all.rates.push(rate("EUR", "USD", &days_ago(ago), worth));
        }
        all
    }
}

fn cents(number: Option<&wire::json::Number>) -> Option<i64> {
    Some(Money::parse(number?.as_str(), Currency::USD).unwrap().minor())
}

fn json(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).unwrap()
}

/// Income, spending and unclassified inflows.
type Figures = [Option<i64>; 3];

fn of_totals(it: &Totals) -> Figures {
    [it.income_minor, it.spending_minor, it.unclassified_minor].map(Some)
}

async fn of_spending(
    world: &World,
    person: &Person,
    period: Period,
    group_by: GroupBy,
) -> (Figures, v1::Spending) {
    let query = Query {
        start_on: Some(period.start),
        end_on: Some(period.end),
        group_by,
        limit: 3,
        ..Query::default()
    };
    let found = spending::get(&world.app, &person.caller, &query).await.unwrap();
    let totals = &found.totals;
    let figures =
        [&totals.income, &totals.spending, &totals.unclassified].map(|it| cents(it.as_ref()));
    (figures, found)
}

/// The groups of every kind add up to the total.
async fn assert_groups_add_up(world: &World, person: &Person, period: Period) {
    for group_by in [GroupBy::Category, GroupBy::Merchant, GroupBy::Account, GroupBy::Month] {
        let (figures, found) = of_spending(world, person, period, group_by).await;
        let groups = found.groups.iter().chain(&found.other);
        let sum: i64 = groups.map(|it| cents(Some(&it.amount)).unwrap()).sum();
        assert_eq!(Some(sum), figures[1].or(Some(0)), "{group_by:?}");
    }
}

async fn assert_summary_agrees(world: &World, person: &Person) {
    let flow = summary::get(&world.app, &person.caller).await.unwrap().cash_flow;
    let period = Period { start: flow.window.start.0, end: flow.window.end.0 };
    let (figures, found) = of_spending(world, person, period, GroupBy::Category).await;
    let of_summary =
        [&flow.income, &flow.expenses, &flow.unclassified].map(|it| cents(it.as_ref()));
    assert_eq!(of_summary, figures);
    assert_eq!(cents(flow.net.as_ref()), figures[0].zip(figures[1]).map(|(a, b)| a - b));
    assert_eq!(json(&flow.excluded), json(&found.excluded));
    assert_groups_add_up(world, person, period).await;
    assert_spending_page_agrees(world, person, period, figures).await;
}

/// The months and the cash flow of the spending page have the totals of the endpoint.
async fn assert_spending_page_agrees(
    world: &World,
    person: &Person,
    period: Period,
    [income, spent, unclassified]: Figures,
) {
    let flow = history::money_flow(&world.app, &person.caller, period).await.unwrap();
    assert_eq!(flow.income_minor(), income.unwrap_or(0));
    assert_eq!(flow.spending_minor(), spent.unwrap_or(0));
    assert_eq!(flow.unclassified_minor, unclassified.unwrap_or(0));
    let months = history::by_month(&world.app, &person.caller, period.end, 3, None).await.unwrap();
    for (index, start) in months.months.iter().enumerate() {
        let month = Period { start: *start, end: start.last_of_month() };
        let (figures, _) = of_spending(world, person, month, GroupBy::Category).await;
        let sum: i64 = months.categories.iter().map(|it| it.minor[index]).sum();
        assert_eq!(sum, figures[1].unwrap_or(0), "{start}");
    }
}

async fn assert_months_agree(world: &World, person: &Person, analyzed: &Income) {
    let months = spending::months(&world.app, &person.caller, 12).await.unwrap();
    for month in analyzed.months.iter().filter(|_| analyzed.window.complete) {
        let of_month =
            [month.received_minor, month.spent_minor, month.unclassified_minor].map(Some);
        let period = Period { start: month.start, end: month.start.last_of_month() };
        let (figures, _) = of_spending(world, person, period, GroupBy::Category).await;
        if figures[0].is_some() {
            assert_eq!(of_month, figures, "{}", month.start);
        }
        let on_page = months.past.iter().find(|it| it.start == month.start);
        assert_eq!(on_page.map_or([Some(0); 3], |it| of_totals(&it.totals)), of_month);
    }
}

/// The division of income is about the same money as spending: without a linked loan they differ by rounding only.
fn assert_blocks_agree(household: &TestHousehold, analyzed: &Income) {
    let pays_loan = |it: &(usize, i64, i64, usize)| TEXTS[it.3].1.starts_with("LOAN_PAYMENTS");
    let moves_to_loan = household.movements.iter().any(|it| it.to == 4);
    let pays_debt =
        household.rows.iter().any(pays_loan) || moves_to_loan || household.changes.may_pay_debt();
    if pays_debt || !analyzed.window.complete {
        return;
    }
    let spent: i64 = analyzed.months.iter().map(|it| it.spent_minor).sum();
    let blocks = analyzed.expenses.total.amount_minor + analyzed.debt.total.amount_minor;
    let months = analyzed.window.months;
    assert!((blocks * months - spent).abs() <= months, "{blocks} x {months} is not {spent}");
}

async fn assert_agreement(world: &World, person: &Person, household: &TestHousehold) {
    assert_summary_agrees(world, person).await;
    let kept = income::analyze(&world.app, &person.caller).await.unwrap();
    // A process that keeps none yet builds it from the transactions.
    let other = world.other_process().await;
    let report = income::analyze(&other, &person.caller).await.unwrap();
    assert_eq!(format!("{report:?}"), format!("{kept:?}"));
    let analyzed = &report.income;
    assert_months_agree(world, person, analyzed).await;
    assert_blocks_agree(household, analyzed);
    // The stored analysis of the API is the one that the page computes.
    let stored = income::get(&world.app, &person.caller).await.unwrap();
    let stored: serde_json::Value = serde_json::from_str(&json(&stored)).unwrap();
    let in_cents = |member: &str| {
        let number = stored.pointer(member).filter(|it| !it.is_null());
        number.map(|it| Money::parse(&it.to_string(), Currency::USD).unwrap().minor())
    };
    for (member, minor) in [
        ("/monthly_income", analyzed.monthly_income_minor),
        ("/unclassified", analyzed.unclassified_minor),
        ("/expenses/amount", analyzed.expenses.total.amount_minor),
        ("/debt/amount", analyzed.debt.total.amount_minor),
        ("/unallocated", analyzed.unallocated.amount_minor),
    ] {
        assert_eq!(in_cents(member), analyzed.has_data.then_some(minor), "{member}");
    }
}

#[test]
fn the_summary_the_analysis_the_spending_and_the_pages_agree_to_the_cent() {
    let (splits, links) = (AtomicUsize::new(0), AtomicUsize::new(0));
    check_property(24, any_household(), async |world, household| {
        let robin = world.someone().await;
        robin.import(household.statement()).await;
        recompute_all(world).await;
        assert_agreement(world, &robin, &household).await;
        let accepted = household.changes.make(world, &robin).await;
        splits.fetch_add(accepted.splits, Ordering::Relaxed);
        links.fetch_add(accepted.links, Ordering::Relaxed);
        recompute_all(world).await;
        assert_agreement(world, &robin, &household).await;
        for index in &household.hidden {
            let id = robin.account(NAMES[*index]).await;
            accounts::set_hidden(&world.app, &robin.caller, id, true).await.unwrap();
        }
        recompute_all(world).await;
        assert_agreement(world, &robin, &household).await;
    });
    let (splits, links) = (splits.into_inner(), links.into_inner());
    assert!(splits >= 8 && links >= 4, "{splits} splits and {links} links were made");
}

/// The faults that people reported, as one household: an unknown employer, card payments whose credit is missing, a
/// refund of a fare, and a client that pays irregularly.
#[tokio::test]
async fn reported_faults_are_gone() {
    let world = World::new().await;
    let robin = world.someone().await;
    let pay = super::monthly("2026-03-01", 14, 400_000, "SUNDOWN LABS");
    let rent = super::monthly("2026-03-05", 14, -150_000, "OAK STREET APARTMENTS RENT");
    let pays_card = super::monthly("2026-03-07", 14, -58_915, "CHASE CREDIT CRD AUTOPAY");
    let other_card = txn("2026-03-08", -7_000, "SYNCHRONY BANK CC PYMT").id("other card");
    let trip = txn("2026-02-20", -2_410, "UBER *TRIP HELP.UBER.COM").id("trip");
    let fare = txn("2026-02-23", 2_410, "UBER *TRIP HELP.UBER.COM").id("fare");
    let client = ["2026-01-04", "2026-01-29", "2026-03-02"]
        .map(|on| txn(on, 90_000, "NORTHWIND STUDIO").id(&format!("client {on}")));
    let everyday = checking("Everyday").with_all(pay).with_all(rent).with_all(pays_card);
    let everyday = everyday.with_all([other_card, trip, fare]).with_all(client);
    let sapphire = open(2).with(txn("2026-03-04", -1_200, "KROGER #339").id("food"));
    robin.import(statement([everyday, sapphire])).await;
    recompute_all(&world).await;
    let flow = summary::get(&world.app, &robin.caller).await.unwrap().cash_flow;
    // The salary and the client's payment.
    assert_eq!(cents(flow.income.as_ref()), Some(490_000));
    // Rent, groceries and the card that is not linked.
    assert_eq!(cents(flow.expenses.as_ref()), Some(158_200));
    assert_eq!(cents(flow.unclassified.as_ref()), Some(0));
    let report = income::analyze(&world.app, &robin.caller).await.unwrap();
    let analyzed = &report.income;
    let labels: Vec<_> = analyzed.sources.iter().map(|it| it.label.as_str()).collect();
    assert_eq!(labels, ["other_income"; 2]);
}

#[tokio::test]
async fn cash_that_is_handed_in_is_no_stream_and_no_income() {
    let world = World::new().await;
    let robin = world.someone().await;
    let cash = super::monthly("2026-03-01", 14, 80_000, "ATM CASH DEPOSIT MAIN ST");
    let gas = [3_100_i64, 2_600, 2_500, 2_700, 4_100, 7_400, 11_900, 14_800, 15_200, 12_100];
    let gas = super::monthly("2026-02-14", 10, -1, "CITY GAS WORKS UTILITY").into_iter().zip(gas);
    let gas = gas
        .map(|(row, minor)| row.minor(-minor).category("RENT_AND_UTILITIES_GAS_AND_ELECTRICITY"));
    robin.import(statement([checking("Everyday").with_all(cash).with_all(gas)])).await;
    recompute_all(&world).await;
    let all =
        service::insights::recurring::Filter { status: None, account_id: None, direction: None };
    let listed = service::insights::recurring::list(&world.app, &robin.caller, all).await.unwrap();
    let streams: Vec<_> = listed
        .streams
        .iter()
        .map(|(it, _)| (it.frequency.as_str(), it.transactions.len()))
        .collect();
    assert_eq!(streams, [("monthly", 10)]);
    let report = income::analyze(&world.app, &robin.caller).await.unwrap();
    let analyzed = &report.income;
    assert_eq!((analyzed.monthly_income_minor, analyzed.unclassified_minor), (0, 80_000));
}
