//! The list of what counts as spending: its rows add up to the figures of the spending page.

use base::AccountId;
use base::category::Category;
use base::draft::AccountKind;
use service::classify::corrections;
use service::classify::overrides::Override;
use service::ingest::account_types;
use service::insights::spending::{self, GroupBy};
use service::ledger::transactions;
use testkit::{Person, World, day};

use crate::listed;
use crate::spending::{get, household, number, query};

/// Compares each group of February with the list that is filtered for what counts as spending.
async fn assert_lists_add_up(world: &World, robin: &Person, group_by: GroupBy) {
    let (start, end) = ("2026-02-01", "2026-02-28");
    let found = get(world, robin, &query(start, end, group_by)).await;
    assert!(found.groups.len() > 1, "{found:?}");
    // The list has no filter for an unknown merchant.
    for group in found.groups.iter().filter(|it| it.key != spending::UNKNOWN) {
        let key = || Some(group.key.clone());
        let filter = transactions::Filter {
            start_on: Some(day(start)),
            end_on: Some(day(end)),
            pending: Some(false),
            spending: true,
            account_id: key()
                .filter(|_| group_by == GroupBy::Account)
                .map(|it| AccountId::parse(&it).unwrap()),
            category_tier1: key().filter(|_| group_by == GroupBy::Category),
            counterparty: key().filter(|_| group_by == GroupBy::Merchant),
            ..Default::default()
        };
        let (app, caller) = (&world.app, &robin.caller);
        let rows = listed::all(app, caller, &filter).await;
        let total: i64 = rows.iter().map(|it| -it.minor).sum();
        let cents = number(&group.amount).replace('.', "");
        assert_eq!(
            (total.to_string(), rows.len() as i64),
            (cents, group.transaction_count),
            "{group:?}"
        );
        let totals = transactions::totals(app, caller, &filter).await.unwrap();
        assert_eq!((totals.len(), -totals[0].net_minor()), (1, total), "{group:?}");
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
