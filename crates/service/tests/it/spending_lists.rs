//! The list of what counts as spending: its rows add up to the figures of the spending page.

use base::AccountId;
use base::category::Category;
use base::draft::AccountKind;
use service::classify::corrections;
use service::classify::overrides::Override;
use service::ingest::account_types;
use service::insights::pipeline;
use service::insights::spending::{self, GroupBy};
use service::ledger::{splits, transactions};
use testkit::{Person, World, day};

use crate::listed;
use crate::spending::{get, household, number, query};
use crate::splits::parts;

/// Compares each group of February with the list that is filtered for what counts as spending.
async fn assert_lists_add_up(world: &World, robin: &Person, group_by: GroupBy) {
    let (start, end) = ("2026-02-01", "2026-02-28");
    let found = get(world, robin, &query(start, end, group_by)).await;
    assert!(found.groups.len() > 1, "{found:?}");
    for group in found.groups {
        let is_unknown = group_by == GroupBy::Merchant && group.key == spending::UNKNOWN;
        let key = |by: GroupBy| (group_by == by && !is_unknown).then(|| group.key.clone());
        let filter = transactions::Filter {
            start_on: Some(day(start)),
            end_on: Some(day(end)),
            pending: Some(false),
            spending: true,
            account_id: key(GroupBy::Account).map(|it| AccountId::parse(&it).unwrap()),
            category_tier1: key(GroupBy::Category),
            counterparty: key(GroupBy::Merchant),
            without_counterparty: is_unknown,
            ..Default::default()
        };
        let (app, caller) = (&world.app, &robin.caller);
        let totals = transactions::totals(app, caller, &filter).await.unwrap();
        let found = totals.first().map_or((0, 0), |it| (-it.net_minor(), it.count));
        let cents = number(&group.amount).replace('.', "");
        assert_eq!((found.0.to_string(), found.1), (cents, group.transaction_count), "{group:?}");
        let rows = listed::all(app, caller, &filter).await;
        assert_eq!(rows.len() as i64, group.transaction_count, "{group:?}");
        let sum: i64 = rows.iter().map(|it| -it.minor).sum();
        let has_split = rows.iter().any(|it| it.json.contains(r#""splits":[{"#));
        assert!(has_split || sum == found.0, "{group:?}");
    }
}

#[tokio::test]
async fn the_transactions_that_count_as_spending_add_up_to_each_figure() {
    let world = World::new().await;
    let robin = world.someone().await;
    robin.import(household()).await;
    assert_lists_add_up(&world, &robin, GroupBy::Account).await;
    assert_lists_add_up(&world, &robin, GroupBy::Merchant).await;
    assert_lists_add_up(&world, &robin, GroupBy::Category).await;
    // Savings that turn out to be a purchase, a loan that is linked, and pay that is a refund.
    let (app, caller) = (&world.app, &robin.caller);
    let rows = listed::all(app, caller, &Default::default()).await;
    let id = |text: &str| rows.iter().find(|it| it.description == text).unwrap().id;
    let gifts = Override {
        category: Category::parse("GENERAL_MERCHANDISE_GIFTS_AND_NOVELTIES"),
        ..Override::default()
    };
    for text in ["TRANSFER TO SAVINGS", "STUDENT LN SVC", "ZELLE FROM SAM"] {
        corrections::correct(app, caller, vec![id(text)], gifts.clone()).await.unwrap();
        assert_lists_add_up(&world, &robin, GroupBy::Account).await;
    }
    let own = Override { category: Category::parse("TRANSFER_OUT_SAVINGS"), ..gifts };
    corrections::correct(app, caller, vec![id("KROGER")], own).await.unwrap();
    assert_lists_add_up(&world, &robin, GroupBy::Account).await;
    // An account that nothing is spent from any more.
    let visa = robin.account("Visa").await;
    account_types::set(app, caller, visa, AccountKind::Investment, None).await.unwrap();
    assert_lists_add_up(&world, &robin, GroupBy::Merchant).await;
}

#[tokio::test]
async fn of_split_transactions_only_the_parts_that_are_spending_count() {
    let world = World::new().await;
    let robin = world.someone().await;
    robin.import(household()).await;
    let (app, caller) = (&world.app, &robin.caller);
    let rows = listed::all(app, caller, &Default::default()).await;
    let (gifts, savings) = ("GENERAL_MERCHANDISE_GIFTS_AND_NOVELTIES", "TRANSFER_OUT_SAVINGS");
    let (food, goods) = ("FOOD_AND_DRINK_GROCERIES", "GENERAL_MERCHANDISE_SPORTING_GOODS");
    // Some parts are spending, in both signs; all are, of an inflow; and none is.
    for (text, of) in [
        ("KROGER", vec![(-12_000, food), (-5_000, savings), (-3_000, gifts)]),
        ("TRANSFER TO SAVINGS", vec![(-50_000, savings), (-10_000, gifts)]),
        ("ZELLE FROM SAM", vec![(4_000, food), (1_000, "INCOME_OTHER_INCOME")]),
        ("REI OUTFITTERS RETURN", vec![(6_000, goods), (4_000, gifts)]),
        ("SHELL OIL", vec![(-600, savings), (-400, savings)]),
    ] {
        let id = rows.iter().find(|it| it.description == text).unwrap().id;
        splits::set(app, caller, id, parts(&of)).await.unwrap();
        pipeline::run_all(app).await.unwrap();
        for group_by in [GroupBy::Account, GroupBy::Merchant, GroupBy::Category] {
            assert_lists_add_up(&world, &robin, group_by).await;
        }
    }
    let kroger = transactions::Filter {
        counterparty: Some("Kroger".to_owned()),
        spending: true,
        ..Default::default()
    };
    let totals = transactions::totals(app, caller, &kroger).await.unwrap();
    assert_eq!(
        totals.iter().map(|it| (it.count, it.net_minor())).collect::<Vec<_>>(),
        [(1, -15_000)]
    );
}
