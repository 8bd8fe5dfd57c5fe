//! Matching of transactions: new, changed, seen, removed, and pending ones that post.

use service::ledger::transactions::Filter;
use testkit::draft::{checking, statement, txn};
use testkit::{Person, World, day};

use super::summary;
use crate::listed::{self, Listed, descriptions};

async fn rows(world: &World, person: &Person) -> Vec<Listed> {
    listed::all(&world.app, &person.caller, &Filter::default()).await
}

#[tokio::test]
async fn unknown_transactions_are_new_and_listed_newest_first() {
    let (world, everyday) = (World::new().await, checking("Everyday"));
    let robin = world.person("robin@example.com").await;
    let everyday = everyday
        .with(txn("2026-03-01", -4210, "KROGER #339"))
        .with(txn("2026-03-05", 250_000, "ACME PAYROLL").category("INCOME_WAGES"))
        .with(txn("2026-02-11", -1299, "NETFLIX.COM").from("Netflix").authorized_on("2026-02-10"));
    assert_eq!(robin.import(statement([everyday])).await, summary(3, 0, 0, 0));
    let rows = rows(&world, &robin).await;
    assert_eq!(descriptions(&rows), ["ACME PAYROLL", "KROGER #339", "NETFLIX.COM"]);
    let netflix = &rows[2];
    assert_eq!(netflix.minor, -1299);
    assert_eq!(netflix.posted_on, day("2026-02-11"));
    assert_eq!(netflix.authorized_on, Some(day("2026-02-10")));
    assert_eq!(netflix.counterparty.as_deref(), Some("Netflix"));
    assert_eq!(rows[0].category.map(|it| it.primary()), Some("INCOME"));
    assert!(rows[1].json.contains(r#""account_name":"Everyday","amount":-42.10"#), "{:?}", rows[1]);
}

#[tokio::test]
async fn the_same_statement_twice_changes_nothing_and_sends_no_events() {
    let world = World::new().await;
    let robin = world.person("robin@example.com").await;
    let account = || {
        let mut account = checking("Everyday")
            .with(txn("2026-03-01", -4210, "KROGER"))
            .with(txn("2026-03-01", -4210, "KROGER"))
            .with(txn("2026-03-02", -500, "COFFEE").id("a").pending())
            .balance("2026-03-09T08:00:00Z", 120_000)
            .past_balance("2026-03-01", 99_000)
            .holding([testkit::draft::position("VTI", "2.5").priced("291.2", "290").cost(50_000)]);
        account.mask = Some("4821".to_owned());
        account
    };
    robin.import(statement([account()])).await;
    let before = world.stored().await;
    world.advance_seconds(3600);
    assert_eq!(robin.import(statement([account()])).await, summary(0, 0, 3, 0));
    let mut after = world.stored().await;
    // Only the import itself is recorded again, and the stamp that it did not use.
    assert_eq!(after["imports"].len(), 2);
    for (table, rows) in before {
        let now = after.remove(&table).unwrap();
        if !["imports", "connections", "person_states", "users"].contains(&table.as_str()) {
            assert_eq!(now, rows, "{table}");
        }
    }
}

#[tokio::test]
async fn a_known_id_with_other_content_is_an_update_that_keeps_missing_fields() {
    let world = World::new().await;
    let robin = world.person("robin@example.com").await;
    let first = txn("2026-03-01", -4210, "KROGER")
        .id("a")
        .from("Kroger")
        .authorized_on("2026-02-28")
        .category("FOOD_AND_DRINK_GROCERIES");
    robin.import(statement([checking("Everyday").with(first)])).await;
    let before = rows(&world, &robin).await;
    world.advance_seconds(60);
    let second = txn("2026-03-02", -4310, "KROGER #339").id("a");
    let found = robin.import(statement([checking("Everyday").with(second)])).await;
    assert_eq!(found, summary(0, 1, 0, 0));
    let after = rows(&world, &robin).await;
    assert_eq!(after.len(), 1);
    assert_eq!(after[0].id, before[0].id);
    assert_eq!((after[0].minor, after[0].posted_on), (-4310, day("2026-03-02")));
    assert_eq!(after[0].description, "KROGER #339");
    assert_eq!(after[0].counterparty, before[0].counterparty);
    assert_eq!(after[0].authorized_on, before[0].authorized_on);
    assert_eq!(after[0].category, before[0].category);
    assert_eq!(after[0].updated_at, world.clock.now());
}

#[tokio::test]
async fn a_transaction_that_the_source_removes_disappears_and_may_come_back() {
    let world = World::new().await;
    let robin = world.person("robin@example.com").await;
    let both = checking("Everyday")
        .with(txn("2026-03-01", -4210, "KROGER").id("a"))
        .with(txn("2026-03-02", -900, "CINEMA").id("b"));
    robin.import(statement([both])).await;
    let gone = checking("Everyday").without("a").without("unknown");
    assert_eq!(robin.import(statement([gone.clone()])).await, summary(0, 0, 0, 1));
    assert_eq!(robin.import(statement([gone])).await, summary(0, 0, 0, 0));
    assert_eq!(descriptions(&rows(&world, &robin).await), ["CINEMA"]);
    let again = checking("Everyday").with(txn("2026-03-01", -4210, "KROGER").id("a"));
    assert_eq!(robin.import(statement([again])).await, summary(1, 0, 0, 0));
    assert_eq!(descriptions(&rows(&world, &robin).await), ["CINEMA", "KROGER"]);
}

#[tokio::test]
async fn a_posted_transaction_keeps_the_id_of_the_pending_one_that_it_settles() {
    let world = World::new().await;
    let robin = world.person("robin@example.com").await;
    let pending = txn("2026-01-04", -5000, "SHELL OIL 5744").id("p1").pending();
    robin.import(statement([checking("Everyday").with(pending)])).await;
    let before = rows(&world, &robin).await;
    assert!(before[0].pending);
    // Amount, name and date differ, so that only the id matches.
    let posted = txn("2026-03-07", -3817, "FUEL PURCHASE").id("t1").settling("p1");
    let account = checking("Everyday").with(posted).without("p1");
    assert_eq!(robin.import(statement([account])).await, summary(0, 1, 0, 0));
    let after = rows(&world, &robin).await;
    assert_eq!(after.len(), 1);
    assert_eq!((after[0].id, after[0].pending), (before[0].id, false));
    assert_eq!((after[0].minor, after[0].posted_on), (-3817, day("2026-03-07")));
}

#[tokio::test]
async fn a_transaction_posted_with_a_tip_is_matched_to_its_pending_one_by_similarity() {
    let world = World::new().await;
    let robin = world.person("robin@example.com").await;
    let pending = checking("Everyday")
        .with(txn("2026-03-04", -4000, "TST* BLUE DOOR BISTRO").pending())
        .with(txn("2026-03-04", -4000, "AMAZON MKTPL").pending());
    robin.import(statement([pending])).await;
    let before = rows(&world, &robin).await;
    let posted = checking("Everyday")
        .with(txn("2026-03-06", -4800, "TST* BLUE DOOR BISTRO PORTLAND OR").id("t1"))
        .with(txn("2026-03-06", -4800, "HARDWARE STORE").id("t2"));
    assert_eq!(robin.import(statement([posted])).await, summary(1, 1, 0, 0));
    let after = rows(&world, &robin).await;
    let id = |rows: &[Listed], word: &str| {
        rows.iter().find(|it| it.description.contains(word)).map(|it| it.id)
    };
    assert_eq!(id(&after, "BISTRO"), id(&before, "BISTRO"));
    assert_eq!(after.len(), 3);
    assert_eq!(after.iter().filter(|it| it.pending).count(), 1);
}

#[tokio::test]
async fn two_equal_purchases_of_one_day_are_both_kept() {
    let world = World::new().await;
    let robin = world.person("robin@example.com").await;
    let coffee = || txn("2026-03-03", -450, "CORNER COFFEE");
    robin.import(statement([checking("Everyday").with(coffee())])).await;
    let two = checking("Everyday").with(coffee()).with(coffee());
    assert_eq!(robin.import(statement([two])).await, summary(1, 0, 1, 0));
    let three = checking("Everyday").with_all([coffee(), coffee(), coffee()]);
    assert_eq!(robin.import(statement([three])).await, summary(1, 0, 2, 0));
    assert_eq!(rows(&world, &robin).await.len(), 3);
}

#[tokio::test]
async fn the_last_of_several_versions_of_a_transaction_in_a_statement_is_used() {
    let world = World::new().await;
    let robin = world.person("robin@example.com").await;
    let account = checking("Everyday")
        .with(txn("2026-03-03", -450, "FIRST WORD").id("a"))
        .with(txn("2026-03-03", -460, "LAST WORD").id("a"));
    assert_eq!(robin.import(statement([account])).await, summary(1, 0, 1, 0));
    assert_eq!(descriptions(&rows(&world, &robin).await), ["LAST WORD"]);
}
