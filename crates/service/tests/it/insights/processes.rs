//! Several processes that recompute insights: none waits for another, and none does another's work again.

use std::collections::BTreeSet;

use db::params;
use service::{Error, insights};
use testkit::draft::{checking, statement, txn};
use testkit::{Person, World};

/// What every change of a person's data does first.
const LOCK: &str = "update person_states set swept_at = swept_at where user_id = $1";

async fn dirty_person(world: &World) -> Person {
    let person = world.someone().await;
    let new = txn("2026-03-09", -100, "KROGER #339").id("a");
    person.import(statement([checking("A").with(new)])).await;
    person
}

async fn queued(world: &World) -> BTreeSet<base::UserId> {
    let all = world.app.db.all("select user_id from insight_work", &[], |row| row.get(0)).await;
    all.unwrap().into_iter().collect()
}

#[tokio::test]
async fn a_person_whose_data_is_being_changed_does_not_stall_others() {
    let world = World::new().await;
    // On SQLite there is one writer, so nothing can be recomputed during another transaction.
    if world.app.db.engine() == db::Engine::Sqlite {
        return;
    }
    let (locked, other) = (dirty_person(&world).await, dirty_person(&world).await);
    let (lock, user) = (world.other_process().await, locked.user.id);
    let (started, begun) = tokio::sync::oneshot::channel();
    let (end, ended) = std::sync::mpsc::channel::<()>();
    let locking = tokio::spawn(async move {
        let hold = move |tx: &mut db::Tx<'_>| {
            tx.execute(LOCK, params![user])?;
            started.send(()).unwrap();
            ended.recv().unwrap();
            Ok::<_, Error>(())
        };
        lock.db.write(hold).await
    });
    begun.await.unwrap();
    let processes = [world.other_process().await, world.other_process().await];
    let mut recomputed = 0;
    for app in &processes {
        recomputed += insights::pipeline::run_all(app).await.unwrap();
    }
    assert_eq!(recomputed, 1);
    assert_eq!(queued(&world).await, [user].into());
    assert_ne!(other.user.id, user);
    end.send(()).unwrap();
    locking.await.unwrap().unwrap();
    assert_eq!(insights::pipeline::run_all(&processes[0]).await.unwrap(), 1);
    assert!(queued(&world).await.is_empty());
}

/// A row that another transaction inserts for a person locks that person only against deletion.
#[tokio::test]
async fn a_person_for_whom_a_row_is_inserted_is_recomputed() {
    let world = World::new().await;
    if world.app.db.engine() == db::Engine::Sqlite {
        return;
    }
    let person = dirty_person(&world).await;
    let (other, user) = (world.other_process().await, person.user.id);
    let (started, begun) = tokio::sync::oneshot::channel();
    let (end, ended) = std::sync::mpsc::channel::<()>();
    let inserting = tokio::spawn(async move {
        let hold = move |tx: &mut db::Tx<'_>| {
            let sql = "select u.id from users u where u.id = $1 for key share";
            tx.first(sql, params![user], |_| Ok(()))?;
            started.send(()).unwrap();
            ended.recv().unwrap();
            Ok::<_, Error>(())
        };
        other.db.write(hold).await
    });
    begun.await.unwrap();
    assert_eq!(insights::pipeline::run_all(&world.app).await.unwrap(), 1);
    end.send(()).unwrap();
    inserting.await.unwrap().unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn three_processes_recompute_each_person_once() {
    let world = World::new().await;
    let mut people = Vec::new();
    for _ in 0..12 {
        people.push(dirty_person(&world).await);
    }
    let mut running = Vec::new();
    for _ in 0..3 {
        let app = world.other_process().await;
        running.push(tokio::spawn(async move { insights::pipeline::run_all(&app).await.unwrap() }));
    }
    let mut recomputed = 0;
    for it in running {
        recomputed += it.await.unwrap();
    }
    // A process that finds only locked people stops, and another one has them.
    assert_eq!(recomputed, people.len());
    assert!(queued(&world).await.is_empty());
}

/// The pipeline is woken by a commit, not by a poll, and not by a transaction that is rolled back.
#[tokio::test]
async fn a_change_wakes_the_pipeline_of_its_process() {
    let world = World::new().await;
    let is_woken = || {
        let mut waiting = std::pin::pin!(world.app.db.work_queued());
        let mut context = std::task::Context::from_waker(std::task::Waker::noop());
        waiting.as_mut().poll(&mut context).is_ready()
    };
    let person = dirty_person(&world).await;
    assert!(is_woken());
    assert!(!is_woken());
    let failing = world.app.db.write(|tx| {
        tx.wake_worker();
        Err::<(), _>(Error::NotFound("anything"))
    });
    failing.await.unwrap_err();
    assert!(!is_woken());
    service::platform::dirty_queue::request_recompute(&world.app, person.user.id).await.unwrap();
    assert!(is_woken());
}
