//! Refunds that the person links to their purchase.

use base::TransactionId;
use base::category::Category;
use service::classify::refunds;
use service::ingest::imports;
use service::insights::spending::{self, GroupBy, Query};
use service::insights::{income, pipeline, transaction_detail};
use service::ledger::splits::{self, Part};
use service::ledger::transactions::Filter;
use testkit::draft::{card, checking, statement, txn};
use testkit::{Person, World, day};

use crate::{is_not_found, listed, param, trail};

const HOME: &str = "HOME_IMPROVEMENT_FURNITURE";
const GIFTS: &str = "GENERAL_MERCHANDISE_GIFTS_AND_NOVELTIES";

/// A purchase on a card, and money that arrives on another account under another name a month later.
async fn household(world: &World) -> Person {
    let robin = world.someone().await;
    let everyday = checking("Everyday").with_all([
        txn("2026-02-01", 300_000, "ACME PAYROLL").category("INCOME_WAGES").id("pay"),
        txn("2026-03-06", 25_000, "QXB CLAIMS 77").id("back"),
    ]);
    let visa =
        card("Visa").with(txn("2026-02-10", -40_000, "SOFA WORLD").category(HOME).id("sofa"));
    robin.import(statement([everyday, visa])).await;
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

/// The spending of each category, and the unclassified money, of a month.
async fn month(world: &World, robin: &Person, first: &str) -> Vec<String> {
    recompute(world).await;
    let query = Query {
        start_on: Some(day(first)),
        end_on: Some(day(first).last_of_month()),
        group_by: GroupBy::Category,
        limit: 50,
        ..Query::default()
    };
    let found = spending::get(&world.app, &robin.caller, &query).await.unwrap();
    let json = |it| serde_json::to_string(it).unwrap();
    let groups = found.groups.iter().map(|it| format!("{} {}", it.key, json(&it.amount)));
    let unclassified = serde_json::to_string(&found.totals.unclassified).unwrap();
    groups.chain([format!("unclassified {unclassified}")]).collect()
}

#[tokio::test]
async fn a_linked_refund_is_subtracted_in_the_category_of_its_purchase() {
    let world = World::new().await;
    let robin = household(&world).await;
    let (app, caller) = (&world.app, &robin.caller);
    let bought = ["HOME_IMPROVEMENT 400.00", "unclassified 0.00"];
    assert_eq!(month(&world, &robin, "2026-02-01").await, bought);
    assert_eq!(month(&world, &robin, "2026-03-01").await, ["unclassified 250.00"]);
    let sofa = id_of(&world, &robin, "SOFA WORLD").await;
    let back = id_of(&world, &robin, "QXB CLAIMS 77").await;
    let suggested = refunds::suggest_purchases(app, caller, back).await.unwrap();
    assert_eq!(suggested.iter().map(|it| it.id).collect::<Vec<_>>(), [sofa]);
    refunds::link(app, caller, back, sofa).await.unwrap();
    assert_eq!(
        month(&world, &robin, "2026-02-01").await,
        bought,
        "the month of the purchase stays"
    );
    let netted = ["HOME_IMPROVEMENT -250.00", "unclassified 0.00"];
    assert_eq!(month(&world, &robin, "2026-03-01").await, netted);
    let months = spending::months(app, caller, 1).await.unwrap();
    assert_eq!(months.this.totals.spending_minor, -25_000);
    let analysis = serde_json::to_string(&income::get(app, caller).await.unwrap()).unwrap();
    assert!(!analysis.contains("QXB"), "{analysis}");
    let of = transaction_detail::get(app, caller, sofa).await.unwrap().refund_links;
    assert_eq!((of.purchase, of.refunds[0].id), (None, back));
    let of = transaction_detail::get(app, caller, back).await.unwrap().refund_links;
    assert_eq!(of.purchase.map(|it| it.id), Some(sofa));
    // A full recompute agrees.
    let stored = world.stored().await["cash_flow_months"].clone();
    service::platform::dirty_queue::request_recompute(app, robin.user.id).await.unwrap();
    recompute(&world).await;
    assert_eq!(world.stored().await["cash_flow_months"], stored);
    refunds::unlink(app, caller, back).await.unwrap();
    assert_eq!(month(&world, &robin, "2026-03-01").await, ["unclassified 250.00"]);
    assert_eq!(trail(&world, caller).await[..2], ["refund.unlink", "refund.link"]);
    is_not_found(refunds::unlink(app, caller, back).await);
}

#[tokio::test]
async fn a_refund_of_a_split_purchase_counts_in_the_part_of_its_amount() {
    let world = World::new().await;
    let robin = household(&world).await;
    let (app, caller) = (&world.app, &robin.caller);
    let sofa = id_of(&world, &robin, "SOFA WORLD").await;
    let back = id_of(&world, &robin, "QXB CLAIMS 77").await;
    refunds::link(app, caller, back, sofa).await.unwrap();
    let part = |amount_minor, code: &str| Part {
        amount_minor,
        category: Category::parse(code).unwrap(),
        note: String::new(),
    };
    let parts = vec![part(-25_000, GIFTS), part(-15_000, HOME)];
    splits::set(app, caller, sofa, parts).await.unwrap();
    let netted = ["GENERAL_MERCHANDISE -250.00", "unclassified 0.00"];
    assert_eq!(month(&world, &robin, "2026-03-01").await, netted);
}

#[tokio::test]
async fn only_money_in_is_linked_to_money_out_that_is_no_transfer() {
    let world = World::new().await;
    let (robin, kim) = (household(&world).await, household(&world).await);
    let (app, caller) = (&world.app, &robin.caller);
    let sofa = id_of(&world, &robin, "SOFA WORLD").await;
    let back = id_of(&world, &robin, "QXB CLAIMS 77").await;
    let pay = id_of(&world, &robin, "ACME PAYROLL").await;
    for (refund, purchase) in [(sofa, back), (back, pay), (back, back)] {
        assert_eq!(param(refunds::link(app, caller, refund, purchase).await), "purchase");
    }
    let theirs = id_of(&world, &kim, "SOFA WORLD").await;
    is_not_found(refunds::link(app, caller, back, theirs).await);
    is_not_found(refunds::link(app, caller, theirs, sofa).await);
    is_not_found(refunds::suggest_purchases(app, caller, theirs).await);
}

#[tokio::test]
async fn a_link_ends_when_its_transactions_do() {
    let world = World::new().await;
    let robin = household(&world).await;
    let (app, caller) = (&world.app, &robin.caller);
    let more = checking("Everyday").with(txn("2026-03-07", -5_000, "LAMP SHOP").id("lamp"));
    robin.import(statement([more])).await;
    let import = imports::list(app, caller, None, 1).await.unwrap()[0].id;
    let lamp = id_of(&world, &robin, "LAMP SHOP").await;
    let back = id_of(&world, &robin, "QXB CLAIMS 77").await;
    refunds::link(app, caller, back, lamp).await.unwrap();
    imports::undo(app, caller, import).await.unwrap();
    assert_eq!(month(&world, &robin, "2026-03-01").await, ["unclassified 250.00"]);
    let of = transaction_detail::get(app, caller, back).await.unwrap().refund_links;
    assert_eq!(of.purchase, None);
}
