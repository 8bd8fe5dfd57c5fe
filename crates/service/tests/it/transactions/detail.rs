//! The detail of one transaction, visible only to its owner.

use base::draft::AccountKind;
use service::classify::CategorySource;
use service::classify::transfers;
use service::classify::transfers::TransferKind;
use service::insights;
use service::insights::transaction_detail;
use testkit::draft::{account, checking, statement, txn};
use testkit::{World, new_key};

use super::everything;
use crate::{is_not_found, listed};

#[tokio::test]
async fn a_transfer_shows_its_other_leg_and_a_refused_one_offers_it_as_a_candidate() {
    let world = World::new().await;
    let robin = world.someone().await;
    let out = txn("2026-03-02", -50_000, "ONLINE TRANSFER TO SAVINGS 0042");
    let savings = account("Rainy day", AccountKind::Depository, "savings").with(txn(
        "2026-03-03",
        50_000,
        "TRANSFER FROM CHECKING",
    ));
    robin.import(statement([checking("Everyday").with(out), savings])).await;
    insights::pipeline::run_all(&world.app).await.unwrap();
    let rows = listed::all(&world.app, &robin.caller, &everything()).await;
    let (inflow, outflow) = (rows[0].id, rows[1].id);
    let detail = transaction_detail::get(&world.app, &robin.caller, outflow).await.unwrap();
    assert_eq!(detail.transfer, Some(TransferKind::Savings));
    let leg = detail.other_leg.unwrap();
    assert_eq!((leg.id, leg.account_name.as_str()), (inflow, "Rainy day"));
    assert!(!leg.evidence.is_empty());
    let other = transaction_detail::get(&world.app, &robin.caller, inflow).await.unwrap();
    assert_eq!(other.other_leg.unwrap().id, outflow);

    transfers::refuse(&world.app, &robin.caller, outflow, inflow).await.unwrap();
    // The change applies immediately, before any work in the background.
    let detail = transaction_detail::get(&world.app, &robin.caller, outflow).await.unwrap();
    assert_eq!((detail.transfer, detail.other_leg), (None, None));
    assert_eq!(detail.candidates.iter().map(|it| it.id).collect::<Vec<_>>(), [inflow]);
    transfers::confirm(&world.app, &robin.caller, outflow, inflow).await.unwrap();
    let detail = transaction_detail::get(&world.app, &robin.caller, outflow).await.unwrap();
    assert_eq!(detail.other_leg.unwrap().id, inflow);
}

#[tokio::test]
async fn the_detail_shows_description_merchant_category_source_and_stream() {
    let world = World::new().await;
    let robin = world.someone().await;
    let months = ["2025-12-05", "2026-01-05", "2026-02-05", "2026-03-05"];
    let paid = months.map(|on| txn(on, -1_549, "NETFLIX.COM 866-579-7172").authorized_on(on));
    robin.import(statement([checking("Everyday").with_all(paid)])).await;
    insights::pipeline::run_all(&world.app).await.unwrap();
    let rows = listed::all(&world.app, &robin.caller, &everything()).await;
    let detail = transaction_detail::get(&world.app, &robin.caller, rows[0].id).await.unwrap();
    assert_eq!(detail.description, "NETFLIX.COM 866-579-7172");
    assert_eq!(detail.merchant.as_deref(), Some("Netflix"));
    assert_eq!(detail.stage, Some(CategorySource::Merchant));
    assert_eq!(detail.authorized_on, Some(testkit::day("2026-03-05")));
    assert_eq!(detail.account.name, "Everyday");
    assert!(detail.stream.is_some_and(|it| it.transactions.contains(&rows[3].id)));
    assert_eq!(detail.corrected_at, None);
}

#[tokio::test]
async fn a_guessed_category_has_a_confidence() {
    let world = World::new().await;
    let robin = world.someone().await;
    let (guessed, known) =
        (txn("2026-03-02", -1_200, "HARBOR CRABSHACK"), txn("2026-03-01", -900, "KROGER #12"));
    robin.import(statement([checking("Everyday").with_all([guessed, known])])).await;
    let rows = listed::all(&world.app, &robin.caller, &everything()).await;
    let detail = transaction_detail::get(&world.app, &robin.caller, rows[0].id).await.unwrap();
    assert_eq!(detail.stage, Some(CategorySource::Guess));
    assert_eq!(detail.category.map(|it| it.primary()), Some("FOOD_AND_DRINK"));
    assert!(detail.guess_confidence.is_some_and(|it| (35..=80).contains(&it)));
    let detail = transaction_detail::get(&world.app, &robin.caller, rows[1].id).await.unwrap();
    assert_eq!((detail.stage, detail.guess_confidence), (Some(CategorySource::Merchant), None));
}

#[tokio::test]
async fn the_detail_is_not_found_by_other_people_and_by_keys() {
    let world = World::new().await;
    let (robin, kim) = (world.someone().await, world.someone().await);
    robin.import(statement([checking("Everyday").with(txn("2026-03-02", -1, "A"))])).await;
    let id = listed::all(&world.app, &robin.caller, &everything()).await[0].id;
    is_not_found(transaction_detail::get(&world.app, &kim.caller, id).await);
    let key = robin.key(new_key()).await;
    is_not_found(transaction_detail::get(&world.app, &key.caller, id).await);
    assert!(transaction_detail::get(&world.app, &robin.caller, id).await.is_ok());
}
