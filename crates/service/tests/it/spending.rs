//! Spending and income: one definition for every endpoint, and sums that agree with the transactions.

use base::draft::{AccountKind, Statement};
use base::{Date, date_from_days, days_from_date};
use service::Error;
use service::insights::spending::{self, Compare, GroupBy, Months, Period, Query, Totals, history};
use service::insights::{cash_left, income, pipeline};
use service::ledger::accounts;
use service::ledger::reference_rates;
use testkit::draft::{account, card, checking, rate, statement, txn};
use testkit::{Person, World, day};
use wire::v1;

async fn months(world: &World, person: &Person) -> Months {
    spending::months(&world.app, &person.caller, 6).await.unwrap()
}

pub(crate) fn query(start: &str, end: &str, group_by: GroupBy) -> Query {
    Query {
        start_on: Some(day(start)),
        end_on: Some(day(end)),
        group_by,
        limit: 50,
        ..Query::default()
    }
}

pub(crate) async fn get(world: &World, person: &Person, query: &Query) -> v1::Spending {
    spending::get(&world.app, &person.caller, query).await.unwrap()
}

/// `key amount count` of each group.
fn rows(spending: &v1::Spending) -> Vec<String> {
    let row = |it: &v1::SpendingGroup| {
        let amount = serde_json::to_string(&it.amount).unwrap();
        format!("{} {amount} {}", it.key, it.transaction_count)
    };
    spending.groups.iter().map(row).collect()
}

pub(crate) fn number(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).unwrap()
}

#[tokio::test]
async fn the_average_covers_whole_months_and_excludes_the_current_one() {
    let world = World::new().await;
    let robin = world.someone().await;
    let nothing = months(&world, &robin).await;
    assert_eq!((nothing.past.len(), nothing.average()), (0, None));
    let pay = |on: &str, minor| txn(on, minor, "ACME PAYROLL").category("INCOME_WAGES").id(on);
    let shop = |on: &str, minor| {
        let food = "FOOD_AND_DRINK_GROCERIES";
        txn(on, minor, "KROGER").category(food).id(&format!("shop {on}"))
    };
    let everyday = checking("Everyday").with_all([
        pay("2026-01-31", 100_000),
        shop("2026-01-02", -30_001),
        shop("2026-02-14", -10_000),
        pay("2026-03-01", 7),
        shop("2026-03-10", -9),
    ]);
    robin.import(statement([everyday])).await;
    let found = months(&world, &robin).await;
    // It begins with the first month that has transactions.
    let starts: Vec<_> = found.past.iter().map(|it| it.start).collect();
    assert_eq!(starts, [day("2026-01-01"), day("2026-02-01")]);
    let of = |it: Totals| (it.income_minor, it.spending_minor);
    assert_eq!(of(found.this.totals), (7, 9));
    assert_eq!(found.average().map(of), Some((50_000, 20_000)));
    let id = robin.account("Everyday").await;
    accounts::set_hidden(&world.app, &robin.caller, id, true).await.unwrap();
    assert_eq!(months(&world, &robin).await.past, []);
}

/// A household with every kind of cash flow: pay, purchases, a refund, a card and its payment, a linked and an unlinked
/// loan, savings, and money from an unknown sender.
pub(crate) fn household() -> Statement {
    let everyday = checking("Everyday").balance("2026-03-10T12:00:00Z", 500_000).with_all([
        txn("2026-02-02", 300_000, "ACME PAYROLL").category("INCOME_WAGES").id("pay"),
        txn("2026-02-05", -20_000, "KROGER")
            .from("Kroger")
            .category("FOOD_AND_DRINK_GROCERIES")
            .id("food"),
        txn("2026-02-07", -40_000, "CARD PAYMENT")
            .category("LOAN_PAYMENTS_CREDIT_CARD_PAYMENT")
            .id("pays card"),
        txn("2026-02-09", -25_000, "AUTO LOAN PAYMENT")
            .category("LOAN_PAYMENTS_CAR_PAYMENT")
            .id("car"),
        txn("2026-02-10", -11_000, "STUDENT LN SVC")
            .category("LOAN_PAYMENTS_STUDENT_LOAN_PAYMENT")
            .id("study"),
        txn("2026-02-12", 5_000, "ZELLE FROM SAM")
            .category("TRANSFER_IN_OTHER_TRANSFER_IN")
            .id("sam"),
        txn("2026-02-13", -60_000, "TRANSFER TO SAVINGS")
            .category("TRANSFER_OUT_SAVINGS")
            .id("saved"),
        txn("2026-02-20", -1_000, "SHELL OIL")
            .from("Shell")
            .category("TRANSPORTATION_GAS")
            .id("gas"),
    ]);
    let visa = card("Visa").balance("2026-03-10T12:00:00Z", 10_000).with_all([
        txn("2026-02-03", -35_000, "REI OUTFITTERS")
            .from("REI")
            .category("GENERAL_MERCHANDISE_SPORTING_GOODS")
            .id("tent"),
        txn("2026-02-07", 40_000, "PAYMENT THANK YOU")
            .category("LOAN_PAYMENTS_CREDIT_CARD_PAYMENT")
            .id("paid"),
        txn("2026-02-25", 10_000, "REI OUTFITTERS RETURN").from("REI").id("returned"),
    ]);
    let car = account("Car loan", AccountKind::Loan, "auto")
        .balance("2026-03-10T12:00:00Z", 900_000)
        .with_all([txn("2026-02-09", 25_000, "PAYMENT RECEIVED").id("received")]);
    statement([everyday, visa, car])
}

#[tokio::test]
async fn spending_nets_refunds_and_leaves_out_transfers_and_payments_to_linked_accounts() {
    let world = World::new().await;
    let robin = world.someone().await;
    robin.import(household()).await;
    let february = query("2026-02-01", "2026-02-28", GroupBy::Category);
    let found = get(&world, &robin, &february).await;
    assert_eq!(
        rows(&found),
        [
            "GENERAL_MERCHANDISE 250.00 2",
            "FOOD_AND_DRINK 200.00 1",
            "LOAN_PAYMENTS 110.00 1",
            "TRANSPORTATION 10.00 1",
        ]
    );
    assert_eq!(number(&found.totals.spending), "570.00");
    assert_eq!(number(&found.totals.income), "3000.00");
    assert_eq!(number(&found.totals.unclassified), "50.00");
    let by_merchant =
        get(&world, &robin, &query("2026-02-01", "2026-02-28", GroupBy::Merchant)).await;
    assert_eq!(rows(&by_merchant)[..2], ["REI 250.00 2", "Kroger 200.00 1"]);
    let visa = robin.account("Visa").await;
    let of_card = Query { account_id: Some(visa), ..february.clone() };
    assert_eq!(rows(&get(&world, &robin, &of_card).await), ["GENERAL_MERCHANDISE 250.00 2"]);
    let goods = Query { category_tier1: Some("GENERAL_MERCHANDISE".to_owned()), ..february };
    let goods = get(&world, &robin, &goods).await;
    assert_eq!(rows(&goods), ["GENERAL_MERCHANDISE_SPORTING_GOODS 250.00 2"]);
}

#[tokio::test]
async fn a_hidden_account_counts_only_where_it_is_named() {
    let world = World::new().await;
    let robin = world.someone().await;
    robin.import(household()).await;
    let visa = robin.account("Visa").await;
    // Over more than a year, so that it is computed in parts.
    let all = query("2024-06-01", "2026-02-28", GroupBy::Category);
    let of_card = Query { account_id: Some(visa), ..all.clone() };
    let shown = get(&world, &robin, &of_card).await;
    accounts::set_hidden(&world.app, &robin.caller, visa, true).await.unwrap();
    let hidden = get(&world, &robin, &of_card).await;
    assert_eq!(rows(&hidden), ["GENERAL_MERCHANDISE 250.00 2"]);
    assert_eq!(number(&hidden), number(&shown));
    let found = get(&world, &robin, &all).await;
    assert_eq!(
        rows(&found),
        ["FOOD_AND_DRINK 200.00 1", "LOAN_PAYMENTS 110.00 1", "TRANSPORTATION 10.00 1"]
    );
    let of_everyday = Query { account_id: Some(robin.account("Everyday").await), ..all };
    assert_eq!(rows(&get(&world, &robin, &of_everyday).await), rows(&found));
}

#[tokio::test]
async fn the_income_analysis_and_the_cash_flow_agree() {
    let world = World::new().await;
    let robin = world.someone().await;
    let mut data = household();
    // A transaction before February makes it a whole month of the analysis.
    let earlier = checking("Everyday").with(txn("2026-01-31", -700, "SHELL OIL").id("earlier"));
    robin.import(statement([earlier])).await;
    data.as_of = testkit::at("2026-03-10T13:00:00Z");
    robin.import(data).await;
    let february = Period { start: day("2026-02-01"), end: day("2026-02-28") };
    let (totals, _) = spending::totals(&world.app, &robin.caller, february).await.unwrap();
    let report = income::analyze(&world.app, &robin.caller).await.unwrap();
    let analyzed = &report.income;
    // The window of the analysis is its one whole month.
    let month = analyzed.months.iter().find(|it| it.start == day("2026-02-01"));
    let month = month.unwrap_or_else(|| panic!("no February in {:?}", analyzed.months));
    assert_eq!((month.income_minor, month.spent_minor), (300_000, 57_000));
    assert_eq!((totals.income_minor, totals.spending_minor), (300_000, 57_000));
}

#[tokio::test]
async fn an_earlier_period_is_compared_group_by_group() {
    let world = World::new().await;
    let robin = world.someone().await;
    let food = |on: &str, minor| {
        txn(on, minor, "KROGER").category("FOOD_AND_DRINK_GROCERIES").id(&format!("food {on}"))
    };
    let gas = |on: &str, minor| {
        txn(on, minor, "SHELL").category("TRANSPORTATION_GAS").id(&format!("gas {on}"))
    };
    let everyday = checking("Everyday").with_all([
        food("2026-01-05", -4_000),
        gas("2026-01-06", -1_000),
        food("2026-01-20", -9_900),
        food("2026-02-05", -5_000),
    ]);
    robin.import(statement([everyday])).await;
    let query = Query {
        compare: Some(Compare::PreviousPeriod),
        ..query("2026-02-01", "2026-02-10", GroupBy::Category)
    };
    let found = get(&world, &robin, &query).await;
    let before = found.comparison.as_ref().unwrap();
    assert_eq!((before.start_date.0, before.end_date.0), (day("2026-01-01"), day("2026-01-10")));
    assert_eq!(number(&before.totals.spending), "50.00");
    assert_eq!(
        (number(&before.change), number(&before.change_percent)),
        ("0.00".into(), "0.00".into())
    );
    assert_eq!(rows(&found), ["FOOD_AND_DRINK 50.00 1", "TRANSPORTATION 0.00 0"]);
    let change = |index: usize| number(&found.groups[index].change_percent);
    assert_eq!((change(0), change(1)), ("25.00".into(), "-100.00".into()));
}

#[tokio::test]
async fn unknown_is_null_and_what_cannot_be_converted_is_named() {
    let world = World::new().await;
    let robin = world.someone().await;
    let default = Query { limit: 50, ..Query::default() };
    let empty = get(&world, &robin, &default).await;
    assert_eq!(number(&empty.totals.spending), "null");
    let zurich =
        checking("Zurich").in_currency("CHF").with_all([txn("2026-03-02", -12_345, "COOP")
            .category("FOOD_AND_DRINK_GROCERIES")
            .id("coop")]);
    robin.import(statement([zurich])).await;
    let found = get(&world, &robin, &default).await;
    assert_eq!(number(&found.totals.spending), "0.00");
    assert_eq!(
        number(&found.excluded),
        r#"[{"currency":"CHF","amount":123.45,"account_count":1}]"#
    );
    let reversed = query("2026-03-02", "2026-03-01", GroupBy::Month);
    let refused = spending::get(&world.app, &robin.caller, &reversed).await.unwrap_err();
    assert!(matches!(refused, Error::Invalid { param: Some(it), .. } if it == "start_date"));
}

/// Stored months, with their bytes.
/// Rates of the European Central Bank, which everyone shares.
pub(crate) const RATES: &str = "Date,USD,\n2026-03-09,1.10,\n2026-02-13,1.20,\n2026-01-05,1.50,\n";

#[tokio::test]
async fn each_transaction_is_converted_at_the_rate_of_its_day() {
    let world = World::new().await;
    let robin = world.someone().await;
    let food = |on: &str, minor| {
        txn(on, minor, "REWE MARKT").from("Rewe").category("FOOD_AND_DRINK_GROCERIES").id(on)
    };
    let pay = |on: &str| txn(on, 200_000, "ACME PAYROLL").category("INCOME_WAGES").id(on);
    let konto = checking("Konto").in_currency("EUR").balance("2026-03-10T08:00:00Z", 100_000);
    let konto = konto.with_all([
        food("2026-01-02", -1_000),
        pay("2026-01-30"),
        food("2026-02-12", -1_000),
        food("2026-02-14", -1_000),
        pay("2026-02-27"),
        food("2026-03-08", -1_000),
        food("2026-03-09", -1_000),
    ]);
    robin.import(statement([konto])).await;
    let (app, caller) = (&world.app, &robin.caller);
    reference_rates::import(app, RATES.as_bytes()).await.unwrap();
    pipeline::run_for(app, caller.user).await.unwrap();

    // The first known rate counts before it, and a day without a rate has the last one before it.
    let by_month = history::by_month(app, caller, day("2026-03-10"), 3, None).await.unwrap();
    assert_eq!(by_month.categories[0].minor, [1_500, 1_500 + 1_200, 1_200 + 1_100]);
    let found = get(&world, &robin, &query("2026-01-01", "2026-03-10", GroupBy::Merchant)).await;
    assert_eq!((rows(&found), found.excluded.len()), (vec!["Rewe 65.00 5".to_owned()], 0));
    // A period that begins after the newest rate has that one.
    let late = get(&world, &robin, &query("2026-03-10", "2026-03-10", GroupBy::Month)).await;
    assert_eq!((number(&late.totals.spending), late.excluded.len()), ("0.00".to_owned(), 0));
    let totals = months(&world, &robin).await;
    let of = |it: Totals| (it.income_minor, it.spending_minor);
    assert_eq!(of(totals.past[0].totals), (300_000, 1_500));
    assert_eq!(of(totals.past[1].totals), (240_000, 2_700));
    assert_eq!(of(totals.this.totals), (0, 2_300));
    let period = Period { start: day("2026-02-01"), end: day("2026-02-28") };
    let flow = history::money_flow(app, caller, period).await.unwrap();
    assert_eq!((flow.income_minor(), flow.spending_minor()), (240_000, 2_700));
    let report = income::analyze(app, caller).await.unwrap();
    let (analysis, excluded) = (&report.income, &report.excluded);
    // January is not whole: the first transaction is on its second day.
    let flows: Vec<_> =
        analysis.months.iter().map(|it| (it.received_minor, it.spent_minor)).collect();
    assert_eq!(flows, [(240_000, 2_700)]);
    assert!(excluded.is_empty(), "{excluded:?}");
}

#[tokio::test]
async fn a_refund_finds_its_purchase_although_the_rate_has_changed() {
    let world = World::new().await;
    let robin = world.someone().await;
    let shop = |on: &str, minor| txn(on, minor, "BLUE HARBOR").from("Blue Harbor").id(on);
    let bought = shop("2026-02-14", -10_000).category("HOME_IMPROVEMENT_FURNITURE");
    // The euro has risen, so that the refund is worth more than the purchase was.
    let konto = checking("Konto").in_currency("EUR").with_all([bought, shop("2026-03-02", 10_000)]);
    let mut all = statement([konto]);
    all.rates =
        vec![rate("EUR", "USD", "2026-02-13", "1.00"), rate("EUR", "USD", "2026-03-01", "1.25")];
    robin.import(all).await;
    let found = get(&world, &robin, &query("2026-02-01", "2026-03-10", GroupBy::Category)).await;
    assert_eq!(rows(&found), ["HOME_IMPROVEMENT -25.00 2"]);
    assert_eq!(number(&found.totals.unclassified), "0.00");
}

/// The stored cash flows, and what the list needs to find spending.
async fn stored_months(world: &World) -> Vec<String> {
    let stored = world.stored().await;
    [stored["cash_flow_months"].clone(), stored["spending_exceptions"].clone()].concat()
}

#[tokio::test]
async fn months_kept_over_years_equal_those_of_a_full_recompute() {
    let world = World::new().await;
    let robin = world.someone().await;
    // Four years of purchases, a refund each quarter, and pay each month.
    let first = days_from_date(day("2022-03-01"));
    let on = |index: i64| date_from_days(first + index * 9).to_string();
    let purchase = |index: i64| {
        let name = format!("SHOP {}", index % 7);
        txn(&on(index), -1_000 - index, &name)
            .category("GENERAL_MERCHANDISE_SUPERSTORES")
            .id(&format!("b{index}"))
    };
    let refund = |index: i64| {
        let name = format!("SHOP {}", index % 7);
        txn(&date_from_days(first + index * 9 + 100).to_string(), 900, &name)
            .id(&format!("r{index}"))
    };
    let pay = |index: i64| {
        let on = date_from_days(first + index * 30).to_string();
        txn(&on, 250_000, "ACME PAYROLL").category("INCOME_WAGES").id(&format!("p{index}"))
    };
    let mut everyday = checking("Everyday")
        .with_all((0..150).map(purchase))
        .with_all((0..150).step_by(10).map(refund))
        .with_all((0..45).map(pay));
    robin.import(statement([everyday.clone()])).await;
    pipeline::run_all(&world.app).await.unwrap();
    // A late purchase in a month long past, and a refund of it, come with a later file.
    let late = [
        txn("2022-07-15", -77_700, "SHOP 3").id("late"),
        txn("2022-10-15", 77_700, "SHOP 3").id("late refund"),
    ];
    everyday = everyday.with_all(late);
    robin.import(statement([everyday])).await;
    pipeline::run_all(&world.app).await.unwrap();
    let kept = stored_months(&world).await;
    assert!(kept.len() >= 44, "{}", kept.len());
    service::platform::dirty_queue::request_recompute(&world.app, robin.user.id).await.unwrap();
    pipeline::run_all(&world.app).await.unwrap();
    assert_eq!(stored_months(&world).await, kept);
    let july = query("2022-07-01", "2022-10-31", GroupBy::Month);
    let found = get(&world, &robin, &july).await;
    assert_eq!(found.groups.len(), 4, "{found:?}");
}

#[tokio::test]
async fn every_grouping_adds_up_to_the_total() {
    let world = World::new().await;
    let robin = world.someone().await;
    robin.import(household()).await;
    let spans: [(Date, Date); 3] = [
        (day("2026-02-01"), day("2026-02-28")),
        (day("2026-02-04"), day("2026-02-20")),
        (day("2025-01-01"), day("2026-03-10")),
    ];
    for (start, end) in spans {
        for group_by in GroupBy::ALL {
            for limit in [1, 2, 50] {
                let query = Query {
                    start_on: Some(start),
                    end_on: Some(end),
                    group_by: *group_by,
                    limit,
                    ..Query::default()
                };
                let found = get(&world, &robin, &query).await;
                let amounts = found.groups.iter().chain(&found.other).map(|it| number(&it.amount));
                let cents: i64 =
                    amounts.map(|it| it.replace('.', "").parse::<i64>().unwrap()).sum();
                let total = number(&found.totals.spending).replace('.', "");
                assert_eq!(cents.to_string(), total, "{group_by:?} {limit} {start}");
            }
        }
    }
}

#[tokio::test]
async fn the_usual_spending_is_the_average_of_the_months_before() {
    let world = World::new().await;
    let robin = world.someone().await;
    let spend = |on: &str, minor, category: &str| {
        txn(on, minor, "SHOP").category(category).id(&format!("{category} {on}"))
    };
    let (food, fuel) = ("FOOD_AND_DRINK_GROCERIES", "TRANSPORTATION_GAS");
    let everyday = checking("Everyday").with_all([
        spend("2026-01-05", -4_000, food),
        spend("2026-01-06", -1_000, "FOOD_AND_DRINK_COFFEE"),
        spend("2026-02-05", -2_000, food),
        spend("2026-02-09", -3_000, fuel),
        spend("2026-03-03", -700, food),
    ]);
    robin.import(statement([everyday])).await;
    let (app, caller) = (&world.app, &robin.caller);
    let found = history::by_month(app, caller, day("2026-03-10"), 6, None).await.unwrap();
    assert_eq!(found.months.first(), Some(&day("2025-10-01")));
    // The average begins with January, the first month that has spending.
    assert_eq!(found.usual_minor("FOOD_AND_DRINK"), Some(3_500));
    assert_eq!(found.usual_minor("TRANSPORTATION"), Some(1_500));
    assert_eq!(found.usual_minor("TRAVEL"), Some(0));
    assert_eq!((found.last_minor("FOOD_AND_DRINK"), found.last_minor("TRANSPORTATION")), (700, 0));
    let within =
        history::by_month(app, caller, day("2026-03-10"), 6, Some("FOOD_AND_DRINK")).await.unwrap();
    let keys: Vec<_> =
        within.categories.iter().map(|it| (it.key.as_str(), it.total_minor())).collect();
    assert_eq!(keys, [("FOOD_AND_DRINK_GROCERIES", 6_700), ("FOOD_AND_DRINK_COFFEE", 1_000)]);
    let one = history::by_month(app, caller, day("2026-01-10"), 6, None).await.unwrap();
    assert_eq!(one.usual_minor("FOOD_AND_DRINK"), None);
}

/// Pay on the 27th, rent on the 1st, power on the 18th, a weekly class, and a card whose bills are no cash yet.
#[tokio::test]
async fn the_cash_until_the_next_income_is_what_remains_after_the_bills_before_it() {
    let world = World::new().await;
    let robin = world.someone().await;
    let nothing = cash_left::get(&world.app, &robin.caller).await.unwrap();
    assert_eq!(nothing, None);
    let mut everyday = checking("Everyday").balance("2026-03-10T12:00:00Z", 200_000);
    let mut visa = card("Visa").balance("2026-03-10T12:00:00Z", 5_000);
    for month in 0..8 {
        let on = |day: i64| format!("2025-{:02}-{day:02}", 5 + month);
        let id = |what: &str| format!("{what} {month}");
        everyday = everyday
            .with(
                txn(&on(27), 300_000, "ACME CORP PAYROLL").category("INCOME_WAGES").id(&id("pay")),
            )
            .with(txn(&on(18), -9_000, "CITY POWER AND LIGHT").id(&id("power")))
            .with(
                txn(&on(28), 12, "INTEREST PAID")
                    .category("INCOME_INTEREST_EARNED")
                    .id(&id("cent")),
            );
        visa = visa.with(txn(&on(20), -1_599, "NETFLIX.COM").id(&id("films")));
    }
    for (index, on) in ["2026-01", "2026-02"].iter().enumerate() {
        let id = |what: &str| format!("{what} later {index}");
        let on = |day: i64| format!("{on}-{day:02}");
        everyday = everyday
            .with(
                txn(&on(27), 300_000, "ACME CORP PAYROLL").category("INCOME_WAGES").id(&id("pay")),
            )
            .with(txn(&on(18), -9_000, "CITY POWER AND LIGHT").id(&id("power")));
        visa = visa.with(txn(&on(20), -1_599, "NETFLIX.COM").id(&id("films")));
    }
    let rainy = account("Rainy day", AccountKind::Depository, "savings")
        .balance("2026-03-10T12:00:00Z", 900_000);
    robin.import(statement([everyday, visa, rainy])).await;
    pipeline::run_all(&world.app).await.unwrap();
    let left = cash_left::get(&world.app, &robin.caller).await.unwrap().unwrap();
    // Savings are not for spending, and the subscription is on the card.
    assert_eq!((left.cash_minor, left.bills_minor, left.bill_count), (200_000, 9_000, 1));
    assert_eq!((left.left_minor(), left.income_on), (191_000, day("2026-03-27")));
    // Two days after it was expected, the bill is late, and still to be paid.
    world.advance_seconds(10 * 86_400);
    pipeline::run_all(&world.app).await.unwrap();
    let late = cash_left::get(&world.app, &robin.caller).await.unwrap().unwrap();
    assert_eq!((late.bills_minor, late.bill_count), (9_000, 1));
}
