//! Undoing an import.

use std::collections::BTreeMap;

use base::draft::Statement;
use base::{Entropy, ImportId};
use service::ingest::imports::{self, UndoSummary};
use service::insights;
use service::platform::health::count_miscounted_accounts;
use testkit::draft::{brokerage, checking, position, statement, txn};
use testkit::{Person, World};

use super::summary;

/// The stored financial data, without update times.
pub(super) async fn stored_data(world: &World) -> BTreeMap<String, Vec<String>> {
    let tables =
        ["accounts", "balances", "transactions", "holdings", "securities", "exchange_rates"];
    let mut stored = world.stored_in(&tables).await;
    for rows in stored.values_mut() {
        for row in rows.iter_mut() {
            let kept = row.split(' ').filter(|it| !it.starts_with("updated_at="));
            *row = kept.collect::<Vec<_>>().join(" ");
        }
        rows.sort();
    }
    stored
}

/// Rows that are in only one of the two.
pub(super) fn differences(
    now: &BTreeMap<String, Vec<String>>,
    before: &BTreeMap<String, Vec<String>>,
) -> Vec<String> {
    let only =
        |sign: &str, one: &BTreeMap<String, Vec<String>>, other: &BTreeMap<_, Vec<String>>| {
            let mut rows = Vec::new();
            for (table, of) in one {
                let odd = of.iter().filter(|row| !other[table].contains(row));
                rows.extend(odd.map(|row| format!("{sign} {table} {row}")));
            }
            rows
        };
    [only("+", now, before), only("-", before, now)].concat()
}

async fn newest(world: &World, robin: &Person) -> ImportId {
    imports::list(&world.app, &robin.caller, None, 1).await.unwrap()[0].id
}

/// A random statement of one bank. The statements overlap and contradict each other.
fn random_statement(entropy: &Entropy, round: i64) -> Statement {
    let pick = |below: u8| i64::from(entropy.bytes::<1>()[0] % below);
    let mut everyday = checking("Everyday");
    for _ in 0..pick(8) {
        let (id, day) = (pick(12), 1 + pick(9));
        let row =
            txn(&format!("2026-03-0{day}"), -100 * (1 + pick(3)), &format!("SHOP {}", pick(4)));
        let row = if pick(3) == 0 { row } else { row.id(&format!("t{id}")) };
        everyday = everyday.with(if pick(4) == 0 { row.pending() } else { row });
    }
    for _ in 0..pick(3) {
        everyday = everyday.without(&format!("t{}", pick(12)));
    }
    if pick(2) == 0 {
        everyday = everyday.balance(&format!("2026-03-0{}T08:00:00Z", 1 + pick(9)), pick(9) * 100);
    }
    if pick(2) == 0 {
        everyday = everyday.past_balance(&format!("2026-02-0{}", 1 + pick(9)), pick(9) * 100);
    }
    let mut accounts = vec![everyday];
    if pick(2) == 0 {
        let held = (0..pick(4))
            .map(|it| position(["VTI", "BND", "KO"][it as usize], &format!("{}", 1 + round)));
        accounts.push(brokerage("Brokerage").holding(held));
    }
    if pick(3) == 0 {
        accounts.push(checking(&format!("Spare {}", pick(3))).with(txn("2026-03-02", 700, "GIFT")));
    }
    statement(accounts)
}

#[tokio::test]
async fn undoing_an_import_restores_the_previous_data() {
    let world = World::new().await;
    let robin = world.person("robin@example.com").await;
    let entropy = Entropy::seeded(7);
    let mut undone = 0;
    for round in 0..60 {
        world.advance_seconds(60);
        let before = stored_data(&world).await;
        let found = robin.import(random_statement(&entropy, round)).await;
        if imports::list(&world.app, &robin.caller, None, 500).await.unwrap().is_empty() {
            continue;
        }
        let changed = stored_data(&world).await != before;
        if changed {
            undone += 1;
            let import = newest(&world, &robin).await;
            let result = imports::undo(&world.app, &robin.caller, import).await.unwrap();
            assert_eq!(result.removed, found.new, "round {round}");
            let after = stored_data(&world).await;
            assert_eq!(differences(&after, &before), [""; 0], "round {round}");
            assert_eq!(count_miscounted_accounts(&world.app.db).await.unwrap(), 0);
            // Another statement is imported, and stays.
            robin.import(random_statement(&entropy, round)).await;
        }
    }
    assert!(undone > 20, "{undone}");
}

/// Undoing all imports in a shuffled order leaves nothing.
#[tokio::test]
async fn imports_can_be_undone_in_any_order() {
    for seed in 0..8 {
        let world = World::new().await;
        let robin = world.person("robin@example.com").await;
        let empty = stored_data(&world).await;
        let entropy = Entropy::seeded(seed);
        for round in 0..12 {
            world.advance_seconds(60);
            robin.import(random_statement(&entropy, round)).await;
            insights::pipeline::run_all(&world.app).await.unwrap();
        }
        let mut all = imports::list(&world.app, &robin.caller, None, 500).await.unwrap();
        all.sort_by_key(|it| (it.id.as_bytes()[15] as u64).wrapping_mul(seed * 37 + 11) % 97);
        for it in &all {
            imports::undo(&world.app, &robin.caller, it.id).await.unwrap();
            assert_eq!(count_miscounted_accounts(&world.app.db).await.unwrap(), 0);
            insights::pipeline::run_all(&world.app).await.unwrap();
        }
        let left = stored_data(&world).await;
        assert_eq!(differences(&left, &empty), [""; 0], "seed {seed}");
        for it in &all {
            let again = imports::undo(&world.app, &robin.caller, it.id).await.unwrap_err();
            assert_eq!(again.to_string(), "This import was already undone.");
        }
    }
}

#[tokio::test]
async fn undoing_an_import_keeps_what_a_later_import_updated() {
    let world = World::new().await;
    let robin = world.person("robin@example.com").await;
    let pending = txn("2026-03-01", -450, "BLUE BOTTLE").id("t1").pending();
    let other = txn("2026-03-01", -900, "SHELL").id("t2");
    let first = checking("Everyday").with(pending).with(other).balance("2026-03-01T08:00:00Z", 500);
    robin.import(statement([first])).await;
    let earlier = newest(&world, &robin).await;
    world.advance_seconds(60);
    let posted = txn("2026-03-02", -500, "BLUE BOTTLE").id("t1");
    let second = checking("Everyday").with(posted).balance("2026-03-02T08:00:00Z", 400);
    assert_eq!(robin.import(statement([second])).await, summary(0, 1, 0, 0));
    let later = newest(&world, &robin).await;
    let result = imports::undo(&world.app, &robin.caller, earlier).await.unwrap();
    assert_eq!(result, UndoSummary { removed: 1, restored: 0, accounts_removed: 0 });
    let rows = crate::listed::all(&world.app, &robin.caller, &Default::default()).await;
    assert_eq!(rows.len(), 1);
    let result = imports::undo(&world.app, &robin.caller, later).await.unwrap();
    assert_eq!(result, UndoSummary { removed: 1, restored: 0, accounts_removed: 1 });
}

#[tokio::test]
async fn an_undo_sends_events_and_only_the_owner_can_do_it() {
    let world = World::new().await;
    let robin = world.person("robin@example.com").await;
    let kim = world.person("kim@example.com").await;
    robin.import(statement([checking("Everyday").with(txn("2026-03-01", -450, "A"))])).await;
    let import = newest(&world, &robin).await;
    let key = robin.key(testkit::new_key()).await;
    for stranger in [&kim.caller, &key.caller] {
        let refused = imports::undo(&world.app, stranger, import).await.unwrap_err();
        assert_eq!(refused.to_string(), "there is no such import");
    }
    imports::undo(&world.app, &robin.caller, import).await.unwrap();
    let events =
        ::webhooks::outbox::list(&world.app.db, robin.caller.user, None, 10).await.unwrap();
    let types: Vec<&str> = events.iter().map(|it| it.event_type.as_str()).collect();
    assert!(types.contains(&"account.disconnected"), "{types:?}");
    let removed = events.iter().find(|it| it.event_type == "transaction.updated").unwrap();
    assert!(removed.data.contains("\"removed\":true"), "{}", removed.data);
}
