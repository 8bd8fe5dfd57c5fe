//! Transactions that are split over categories: rules, figures, changed amounts and undo.

use base::TransactionId;
use base::category::Category;
use service::ingest::imports;
use service::insights::spending::{self, GroupBy, Query};
use service::insights::{income, pipeline, transaction_detail};
use service::ledger::splits::{self, Part};
use service::ledger::transactions::{self, Filter};
use testkit::draft::{card, checking, statement, txn};
use testkit::{Person, World, day, new_key};

use crate::{is_not_found, listed, param, trail};

const FOOD: &str = "FOOD_AND_DRINK_GROCERIES";
const GIFTS: &str = "GENERAL_MERCHANDISE_GIFTS_AND_NOVELTIES";
const HOME: &str = "HOME_IMPROVEMENT_FURNITURE";

fn category(code: &str) -> Category {
    Category::parse(code).unwrap()
}

pub(crate) fn parts(of: &[(i64, &str)]) -> Vec<Part> {
    let part = |(amount_minor, code): &(i64, &str)| Part {
        amount_minor: *amount_minor,
        category: category(code),
        note: String::new(),
    };
    of.iter().map(part).collect()
}

/// A month with pay, a large receipt and a small purchase.
async fn household(world: &World) -> Person {
    let robin = world.someone().await;
    let everyday = checking("Everyday").with_all([
        txn("2026-03-01", 300_000, "ACME PAYROLL").category("INCOME_WAGES").id("pay"),
        txn("2026-03-02", -10_000, "TARGET STORE").from("Target").category(FOOD).id("receipt"),
        txn("2026-03-03", -500, "KROGER").from("Kroger").category(FOOD).id("small"),
    ]);
    robin.import(statement([everyday])).await;
    recompute(world).await;
    robin
}

async fn recompute(world: &World) {
    pipeline::run_all(&world.app).await.unwrap();
}

async fn id_of(world: &World, robin: &Person, text: &str) -> TransactionId {
    let rows = listed::all(&world.app, &robin.caller, &Filter::default()).await;
    rows.iter().find(|it| it.description == text).unwrap().id
}

async fn split(world: &World, robin: &Person, text: &str, of: &[(i64, &str)]) {
    let id = id_of(world, robin, text).await;
    splits::set(&world.app, &robin.caller, id, parts(of)).await.unwrap();
    recompute(world).await;
}

/// `key amount count` of each group in March.
async fn spent(
    world: &World,
    robin: &Person,
    group_by: GroupBy,
    tier1: Option<&str>,
) -> Vec<String> {
    let query = Query {
        start_on: Some(day("2026-03-01")),
        end_on: Some(day("2026-03-31")),
        group_by,
        category_tier1: tier1.map(str::to_owned),
        limit: 50,
        ..Query::default()
    };
    let found = spending::get(&world.app, &robin.caller, &query).await.unwrap();
    let row = |it: &wire::v1::SpendingGroup| {
        let amount = serde_json::to_string(&it.amount).unwrap();
        format!("{} {amount} {}", it.key, it.transaction_count)
    };
    found.groups.iter().map(row).collect()
}

async fn by_category(world: &World, robin: &Person) -> Vec<String> {
    spent(world, robin, GroupBy::Category, None).await
}

#[tokio::test]
async fn every_figure_by_category_counts_the_parts() {
    let world = World::new().await;
    let robin = household(&world).await;
    assert_eq!(by_category(&world, &robin).await, ["FOOD_AND_DRINK 105.00 2"]);
    split(&world, &robin, "TARGET STORE", &[(-6_000, FOOD), (-3_000, GIFTS), (-1_000, FOOD)]).await;
    let expected = ["FOOD_AND_DRINK 75.00 2", "GENERAL_MERCHANDISE 30.00 1"];
    assert_eq!(by_category(&world, &robin).await, expected);
    // The transaction counts once where its parts are in one group.
    let merchants = spent(&world, &robin, GroupBy::Merchant, None).await;
    assert_eq!(merchants, ["Target 100.00 1", "Kroger 5.00 1"]);
    let gifts = spent(&world, &robin, GroupBy::Merchant, Some("GENERAL_MERCHANDISE")).await;
    assert_eq!(gifts, ["Target 30.00 1"]);
    let months = spending::months(&world.app, &robin.caller, 1).await.unwrap();
    let this = months.this.totals;
    assert_eq!((this.spending_minor, this.spending_count, this.income_minor), (10_500, 2, 300_000));
    // A full recompute agrees with the one around the change.
    let before = world.stored().await["cash_flow_months"].clone();
    service::platform::dirty_queue::request_recompute(&world.app, robin.user.id).await.unwrap();
    recompute(&world).await;
    assert_eq!(world.stored().await["cash_flow_months"], before);
    let id = id_of(&world, &robin, "TARGET STORE").await;
    splits::remove(&world.app, &robin.caller, id).await.unwrap();
    assert_eq!(by_category(&world, &robin).await, ["FOOD_AND_DRINK 105.00 2"]);
    assert_eq!(
        trail(&world, &robin.caller).await[..2],
        ["transaction.unsplit", "transaction.split"]
    );
}

#[tokio::test]
async fn a_filter_by_category_finds_parts_and_sums_only_those() {
    let world = World::new().await;
    let robin = household(&world).await;
    split(&world, &robin, "TARGET STORE", &[(-6_000, FOOD), (-3_000, GIFTS), (-1_000, HOME)]).await;
    let of = async |filter: Filter| {
        let rows = listed::all(&world.app, &robin.caller, &filter).await;
        let totals = transactions::totals(&world.app, &robin.caller, &filter).await.unwrap();
        let by_day = transactions::totals_by_day(&world.app, &robin.caller, &filter).await.unwrap();
        let sum: i64 = by_day.values().flatten().map(|it| it.out_minor).sum();
        let total = totals.first().map_or((0, 0), |it| (it.count, it.out_minor));
        assert_eq!(sum, total.1);
        (rows.into_iter().map(|it| it.description).collect::<Vec<_>>(), total)
    };
    let tier1 = |it: &str| Filter { category_tier1: Some(it.to_owned()), ..Filter::default() };
    let exact = |it: &str| Filter { category: Some(category(it)), ..Filter::default() };
    let both = vec!["KROGER".to_owned(), "TARGET STORE".to_owned()];
    let target = vec!["TARGET STORE".to_owned()];
    assert_eq!(of(tier1("FOOD_AND_DRINK")).await, (both.clone(), (2, -6_500)));
    assert_eq!(of(exact(FOOD)).await, (both, (2, -6_500)));
    assert_eq!(of(exact(GIFTS)).await, (target.clone(), (1, -3_000)));
    assert_eq!(of(exact("GENERAL_MERCHANDISE_ELECTRONICS")).await, (vec![], (0, 0)));
    let q = Some("target".to_owned());
    assert_eq!(of(Filter { q, ..tier1("HOME_IMPROVEMENT") }).await, (target, (1, -1_000)));
    assert_eq!(of(Filter { uncategorized: true, ..Filter::default() }).await, (vec![], (0, 0)));
    assert_eq!(of(Filter { pending: Some(false), ..Filter::default() }).await.1, (3, -10_500));
}

#[tokio::test]
async fn the_api_shows_parts_that_add_up_and_the_change_feed_tells_of_them() {
    let world = World::new().await;
    let robin = household(&world).await;
    let before = listed::all(&world.app, &robin.caller, &Filter::default()).await;
    assert!(before.iter().all(|it| it.json.contains("\"splits\":[]")));
    let stamp = before.iter().map(|it| it.updated_at).max();
    let id = id_of(&world, &robin, "TARGET STORE").await;
    let mut of = parts(&[(-6_000, FOOD), (-4_000, GIFTS)]);
    of[1].note = "For \"Kim\"".to_owned();
    splits::set(&world.app, &robin.caller, id, of).await.unwrap();
    let rows = listed::all(&world.app, &robin.caller, &Filter::default()).await;
    let row = rows.iter().find(|it| it.id == id).unwrap();
    assert!(Some(row.updated_at) > stamp);
    let json: serde_json::Value = serde_json::from_str(&row.json).unwrap();
    let has = |amount: &str| row.json.contains(&format!("{{\"amount\":{amount},"));
    assert!(has("-60.00") && has("-40.00"), "{}", row.json);
    assert_eq!(json["splits"][1]["note"], "For \"Kim\"");
    assert_eq!(json["splits"][1]["category_tier1"], "GENERAL_MERCHANDISE");
    assert!(json["splits"][0]["note"].is_null());
    assert_eq!(json["category_tier2"], FOOD, "the whole keeps its own category");
}

#[tokio::test]
async fn a_split_stops_counting_when_its_amount_changes_and_counts_again_after_an_undo() {
    let world = World::new().await;
    let robin = household(&world).await;
    let (app, caller) = (&world.app, &robin.caller);
    split(&world, &robin, "TARGET STORE", &[(-6_000, FOOD), (-4_000, GIFTS)]).await;
    let split_spending = ["FOOD_AND_DRINK 65.00 2", "GENERAL_MERCHANDISE 40.00 1"];
    assert_eq!(by_category(&world, &robin).await, split_spending);
    assert!(splits::list_outdated(app, caller).await.unwrap().is_empty());
    // The bank corrects the amount.
    let changed =
        txn("2026-03-02", -10_250, "TARGET STORE").from("Target").category(FOOD).id("receipt");
    robin.import(statement([checking("Everyday").with(changed)])).await;
    recompute(&world).await;
    assert_eq!(by_category(&world, &robin).await, ["FOOD_AND_DRINK 107.50 2"]);
    let id = id_of(&world, &robin, "TARGET STORE").await;
    assert_eq!(splits::list_outdated(app, caller).await.unwrap(), [id]);
    let detail = transaction_detail::get(app, caller, id).await.unwrap();
    let kept = detail.split.unwrap();
    assert_eq!((kept.whole_minor, kept.parts.len()), (-10_000, 2));
    assert!(!kept.counts(detail.amount.minor()));
    let gifts = Filter { category: Some(category(GIFTS)), ..Filter::default() };
    assert!(listed::all(app, caller, &gifts).await.is_empty());
    let newest = imports::list(app, caller, None, 1).await.unwrap()[0].id;
    imports::undo(app, caller, newest).await.unwrap();
    recompute(&world).await;
    assert_eq!(by_category(&world, &robin).await, split_spending);
    assert!(splits::list_outdated(app, caller).await.unwrap().is_empty());
}

#[tokio::test]
async fn a_refund_is_subtracted_in_the_part_it_refunds() {
    let world = World::new().await;
    let robin = household(&world).await;
    let refund = |on: &str, minor, id: &str| txn(on, minor, "TARGET STORE").from("Target").id(id);
    let rows = [refund("2026-03-05", 4_000, "returned")];
    robin.import(statement([checking("Everyday").with_all(rows)])).await;
    split_receipt(&world, &robin).await;
    // The part of the same amount.
    let expected = ["FOOD_AND_DRINK 65.00 2", "GENERAL_MERCHANDISE 0.00 2"];
    assert_eq!(by_category(&world, &robin).await, expected);
    // More than each part: the largest one.
    let all = [refund("2026-03-06", 9_000, "all")];
    robin.import(statement([checking("Everyday").with_all(all)])).await;
    recompute(&world).await;
    let expected = ["GENERAL_MERCHANDISE 0.00 2", "FOOD_AND_DRINK -25.00 3"];
    let mut found = by_category(&world, &robin).await;
    found.sort_by_key(|it| it.starts_with("FOOD"));
    assert_eq!(found, expected);
}

/// Splits the receipt of the household, which is the purchase of that text.
async fn split_receipt(world: &World, robin: &Person) {
    let outflows =
        Filter { direction: Some(service::ledger::Direction::Outflow), ..Filter::default() };
    let rows = listed::all(&world.app, &robin.caller, &outflows).await;
    let id = rows.iter().find(|it| it.description == "TARGET STORE").unwrap().id;
    let of = parts(&[(-6_000, FOOD), (-4_000, GIFTS)]);
    splits::set(&world.app, &robin.caller, id, of).await.unwrap();
    recompute(world).await;
}

#[tokio::test]
async fn parts_of_an_inflow_are_income_or_refunds_by_their_category() {
    let world = World::new().await;
    let robin = household(&world).await;
    split(&world, &robin, "ACME PAYROLL", &[(290_000, "INCOME_WAGES"), (10_000, "TRAVEL_FLIGHTS")])
        .await;
    let months = spending::months(&world.app, &robin.caller, 1).await.unwrap();
    let this = months.this.totals;
    assert_eq!((this.income_minor, this.spending_minor), (290_000, 500));
    let analysis = income::get(&world.app, &robin.caller).await;
    assert!(analysis.is_ok());
}

#[tokio::test]
async fn parts_are_checked_and_belong_to_the_person() {
    let world = World::new().await;
    let robin = household(&world).await;
    let (app, caller) = (&world.app, &robin.caller);
    let id = id_of(&world, &robin, "TARGET STORE").await;
    for wrong in [
        &[(-10_000, FOOD)][..],
        &[(-6_000, FOOD), (-3_999, GIFTS)],
        &[(-11_000, FOOD), (1_000, GIFTS)],
        &[(-10_000, FOOD), (0, GIFTS)],
        &[(6_000, FOOD), (4_000, GIFTS)],
        &[(-500, FOOD); 21],
    ] {
        assert_eq!(param(splits::set(app, caller, id, parts(wrong)).await), "splits", "{wrong:?}");
    }
    let mut of = parts(&[(-6_000, FOOD), (-4_000, GIFTS)]);
    of[0].note = "two\nlines".to_owned();
    assert_eq!(param(splits::set(app, caller, id, of).await), "splits");
    let good = || parts(&[(-6_000, FOOD), (-4_000, GIFTS)]);
    let kim = world.someone().await;
    is_not_found(splits::set(app, &kim.caller, id, good()).await);
    is_not_found(splits::remove(app, &kim.caller, id).await);
    let key = robin.key(new_key()).await;
    is_not_found(splits::set(app, &key.caller, id, good()).await);
    // A payment to the person's own card is a transfer.
    let pays = txn("2026-03-04", -20_000, "CARD PAYMENT").id("pays");
    let paid = txn("2026-03-04", 20_000, "PAYMENT THANK YOU").id("paid");
    robin.import(statement([checking("Everyday").with(pays), card("Visa").with(paid)])).await;
    recompute(&world).await;
    let transfer = id_of(&world, &robin, "CARD PAYMENT").await;
    let of = parts(&[(-15_000, FOOD), (-5_000, GIFTS)]);
    assert_eq!(param(splits::set(app, caller, transfer, of).await), "splits");
    assert!(splits::set(app, caller, id, good()).await.is_ok());
}
