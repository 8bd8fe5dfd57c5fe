//! Retention: old rows are deleted or thinned out, and what people can still use stays.

use std::collections::{BTreeMap, BTreeSet};

use base::{ImportId, days_from_date};
use db::params;
use service::ingest::imports;
use service::{Error, Result, retention};
use testkit::draft::{checking, statement, txn};
use testkit::{Person, World, day};

const DAY: u64 = 86_400;

async fn sweep(world: &World) -> usize {
    retention::sweep_once(&world.app).await.unwrap()
}

async fn newest(world: &World, person: &Person) -> ImportId {
    imports::list(&world.app, &person.caller, None, 1).await.unwrap()[0].id
}

async fn numbers(world: &World, sql: &str, person: &Person) -> BTreeSet<i64> {
    let found = world.app.db.all(sql, params![person.caller.user], |row| row.get::<i64>(0)).await;
    found.unwrap().into_iter().collect()
}

async fn journal_entries(world: &World, import: ImportId) -> i64 {
    let sql = "select cast(count(*) as bigint) from import_journal where import_id = $1";
    world.app.db.first(sql, params![import], |row| row.get(0)).await.unwrap().unwrap()
}

/// The days that stay: all from the cutoff on, and before it the last one of each week.
fn thinned(days: &BTreeSet<i64>, cutoff: i64) -> BTreeSet<i64> {
    let old = days.iter().filter(|it| **it < cutoff);
    let weeks: BTreeMap<i64, i64> = old.map(|it| (it / 7, *it)).collect();
    weeks.into_values().chain(days.iter().copied().filter(|it| *it >= cutoff)).collect()
}

#[tokio::test]
async fn an_import_can_be_undone_for_ninety_days_and_then_its_journal_is_deleted() {
    let world = World::new().await;
    let robin = world.someone().await;
    robin.import(statement([checking("A").with(txn("2026-03-01", -100, "SHOP"))])).await;
    let old = newest(&world, &robin).await;
    world.advance_seconds(60 * DAY);
    robin.import(statement([checking("A").with(txn("2026-05-01", -200, "CAFE"))])).await;
    let young = newest(&world, &robin).await;
    world.advance_seconds(30 * DAY);
    sweep(&world).await;
    assert!(journal_entries(&world, old).await > 0, "it can still be undone");
    let listed = imports::get(&world.app, &robin.caller, old).await.unwrap();
    assert!(listed.can_be_undone(world.app.clock.now()));

    world.advance_seconds(2 * DAY);
    assert!(!listed.can_be_undone(world.app.clock.now()));
    sweep(&world).await;
    assert_eq!(journal_entries(&world, old).await, 0);
    assert!(journal_entries(&world, young).await > 0);
    let refused = imports::undo(&world.app, &robin.caller, old).await;
    let Err(Error::Conflict { message, .. }) = refused else { panic!("{refused:?}") };
    assert!(message.contains("90 days"), "{message}");
    assert!(imports::get(&world.app, &robin.caller, old).await.is_ok(), "its rows are stored");
    assert_eq!(imports::undo(&world.app, &robin.caller, young).await.unwrap().removed, 1);
}

#[tokio::test]
async fn old_syncs_without_transactions_are_forgotten() {
    let world = World::new().await;
    let robin = world.someone().await;
    robin.import(statement([checking("A").with(txn("2026-03-01", -100, "SHOP"))])).await;
    robin.import(statement([checking("A").balance("2026-03-09T08:00:00Z", 100)])).await;
    let all = "select new_count from imports where user_id = $1";
    assert_eq!(numbers(&world, all, &robin).await, BTreeSet::from([0, 1]));
    world.advance_seconds(92 * DAY);
    sweep(&world).await;
    assert_eq!(numbers(&world, all, &robin).await, BTreeSet::from([1]));
}

#[tokio::test]
async fn of_old_balances_the_last_of_each_week_stays() {
    let world = World::new().await;
    let robin = world.someone().await;
    let today = days_from_date(day("2026-03-10"));
    let cutoff = today - 730;
    // Every day around the cutoff, and every third day long before it.
    let days: BTreeSet<i64> =
        (cutoff - 40..cutoff + 10).chain((cutoff - 400..cutoff - 60).step_by(3)).collect();
    let mut account = checking("A").balance("2026-03-09T08:00:00Z", 100);
    for day in &days {
        account = account.past_balance(&base::date_from_days(*day).to_string(), 100 + day % 50);
    }
    robin.import(statement([account])).await;
    let reported = "select reported_on from balances where user_id = $1";
    let before = numbers(&world, reported, &robin).await;
    assert!(days.is_subset(&before));
    sweep(&world).await;
    assert_eq!(numbers(&world, reported, &robin).await, thinned(&before, cutoff));
    // The next day's sweep takes nothing of a week that it has thinned out.
    world.advance_seconds(DAY + 1);
    sweep(&world).await;
    assert_eq!(numbers(&world, reported, &robin).await, thinned(&before, cutoff + 1));
}

async fn add_scores(world: &World, person: &Person, days: &BTreeSet<i64>) {
    let (user, days) = (person.caller.user, days.clone());
    let insert = "insert into scores
        (user_id, observed_on, evenkeel, recovery, capacity, baseline, explanation)
        values ($1, $2, 50, 50, 50, 50, '{}')";
    let add = move |tx: &mut db::Tx<'_>| -> Result<()> {
        for day in days {
            tx.execute(insert, params![user, day])?;
        }
        Ok(())
    };
    world.app.db.write(add).await.unwrap();
}

#[tokio::test]
async fn of_old_scores_one_a_week_stays_and_each_person_is_swept_once_a_day() {
    let world = World::new().await;
    let (robin, kim) = (world.someone().await, world.someone().await);
    let cutoff = days_from_date(day("2026-03-10")) - 400;
    let days: BTreeSet<i64> = (cutoff - 1_500..cutoff + 5).collect();
    add_scores(&world, &robin, &days).await;
    let observed = "select observed_on from scores where user_id = $1";
    let other = world.other_process().await;
    let (here, there) =
        tokio::join!(retention::sweep_once(&world.app), retention::sweep_once(&other));
    let kept = thinned(&days, cutoff);
    assert_eq!(here.unwrap() + there.unwrap(), days.len() - kept.len());
    assert_eq!(numbers(&world, observed, &robin).await, kept);

    add_scores(&world, &kim, &days).await;
    assert_eq!(sweep(&world).await, 0, "a second time on the same day");
    world.advance_seconds(DAY + 1);
    sweep(&world).await;
    assert_eq!(numbers(&world, observed, &kim).await, thinned(&days, cutoff + 1));
}

#[tokio::test]
async fn actions_that_ended_two_years_ago_are_deleted() {
    let world = World::new().await;
    let robin = world.someone().await;
    let user = robin.caller.user;
    let now = world.app.clock.now().as_microsecond();
    let insert = "insert into actions (user_id, id, thread_id, action_type, kind, status, payload, details,
        digest, proposer, proposer_id, proposer_label, created_at, updated_at, expires_at)
        values ($1, $2, $2, 'transaction.recategorize', 'correction', $3, '{}', '{}', $2, 'api_key', $2, '',
        $4, $4, $4)";
    let statuses = ["executed", "expired", "pending_approval", "approved", "executing"];
    let add = move |tx: &mut db::Tx<'_>| -> Result<()> {
        for (number, status) in statuses.iter().enumerate() {
            for (group, days) in [729, 731].into_iter().enumerate() {
                let id = [(number * 2 + group) as u8; 16];
                let at = now - days * 86_400_000_000;
                tx.execute(insert, params![user, &id[..], *status, at])?;
            }
        }
        Ok(())
    };
    world.app.db.write(add).await.unwrap();
    assert_eq!(sweep(&world).await, 2);
    let left = "select distinct (updated_at - $2) from actions where user_id = $1
        and status in ('executed', 'expired')";
    let left = world.app.db.all(left, params![user, now], |row| row.get::<i64>(0)).await.unwrap();
    assert_eq!(left, [-729 * 86_400_000_000]);
}
