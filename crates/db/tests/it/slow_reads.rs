//! Slow reads: moved to their own pool, limited in number and time, and never blocking fast ones.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use db::{Db, Engine, Error, Progress, ReadLimits};
use testkit::Database;

const ENDLESS: &str = "with recursive n (i) as (select 1 union all select i + 1 from n)
    select i from n where i < 0";
const MANY: &str =
    "with recursive n (i) as (select 1 union all select i + 1 from n where i < 200000)
    select cast(i as bigint) from n";
const FAST: &str = "select cast(7 as bigint)";

/// With this inline limit, every larger read moves to the slow-read pool.
const TINY_INLINE_LIMIT: ReadLimits = ReadLimits {
    inline: Duration::from_millis(1),
    total: Duration::from_secs(120),
    slow_at_once: 2,
};

async fn open(limits: ReadLimits) -> (Db, Database) {
    let database = Database::empty().await;
    (database.open_with(limits).await, database)
}

#[tokio::test]
async fn an_endless_read_is_stopped_and_the_database_stays_usable() {
    let total = Duration::from_secs(1);
    let (db, _database) = open(ReadLimits { total, ..TINY_INLINE_LIMIT }).await;
    for _ in 0..3 {
        let endless = db.all(ENDLESS, &[], |row| row.get::<i64>(0)).await;
        assert!(matches!(endless, Err(Error::TimedOut)), "{endless:?}");
        let endless = db.each_slow(ENDLESS, &[], |_| Ok(())).await;
        assert!(matches!(endless, Err(Error::TimedOut)), "{endless:?}");
        assert!(answers(&db).await);
    }
}

/// Whether the database answers a small read. On a busy machine, one of them may take longer than the limit.
async fn answers(db: &Db) -> bool {
    for _ in 0..5 {
        match db.first(FAST, &[], |row| row.get::<i64>(0)).await {
            Err(Error::TimedOut | Error::Unavailable(_)) => {}
            answer => return answer.unwrap() == Some(7),
        }
    }
    false
}

#[tokio::test]
async fn a_read_that_moved_to_the_slow_pool_returns_each_row_once() {
    let (db, _database) = open(TINY_INLINE_LIMIT).await;
    let expected: Vec<i64> = (1..=200_000).collect();
    assert_eq!(db.all(MANY, &[], |row| row.get::<i64>(0)).await.unwrap(), expected);
    assert_eq!(db.first(MANY, &[], |row| row.get::<i64>(0)).await.unwrap(), Some(1));
    let mut rows = Vec::new();
    let each = db.each(MANY, &[], |row| {
        rows.push(row.get::<i64>(0)?);
        Ok(())
    });
    each.await.unwrap();
    assert_eq!(rows, expected);
    rows.clear();
    let part = db.each_resumable(MANY, &[], |row| {
        rows.push(row.get::<i64>(0)?);
        Ok(())
    });
    match (part.await.unwrap(), db.engine()) {
        (Progress::Stopped, Engine::Sqlite) => assert!(rows.len() < 200_000),
        (Progress::Done, Engine::Postgres) => assert_eq!(rows, expected),
        other => panic!("{other:?}"),
    }
    assert_eq!(rows, expected[..rows.len()]);
}

/// Blocks callers of `pass` until it is opened, and counts how many wait at once, and at most.
#[derive(Default)]
struct Gate {
    is_open: Mutex<bool>,
    opened: Condvar,
    inside: AtomicUsize,
    most: AtomicUsize,
}

impl Gate {
    fn pass(&self) {
        let inside = self.inside.fetch_add(1, Ordering::SeqCst) + 1;
        self.most.fetch_max(inside, Ordering::SeqCst);
        let is_open = self.is_open.lock().unwrap();
        drop(self.opened.wait_while(is_open, |it| !*it).unwrap());
        self.inside.fetch_sub(1, Ordering::SeqCst);
    }

    fn open(&self) {
        *self.is_open.lock().unwrap() = true;
        self.opened.notify_all();
    }
}

/// Eight slow reads on two threads: two run, six wait, and fast reads are not delayed.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn slow_reads_wait_for_permits_and_do_not_delay_fast_reads() {
    let (db, _database) =
        open(ReadLimits { inline: Duration::from_secs(60), ..TINY_INLINE_LIMIT }).await;
    if db.engine() == Engine::Postgres {
        return;
    }
    let gate = Arc::new(Gate::default());
    let slow: Vec<_> = (0..8)
        .map(|_| {
            let (db, gate) = (db.clone(), gate.clone());
            tokio::spawn(async move {
                let read = db.each_slow(FAST, &[], |_| {
                    gate.pass();
                    Ok(())
                });
                read.await
            })
        })
        .collect();
    while gate.inside.load(Ordering::SeqCst) < 2 {
        tokio::task::yield_now().await;
    }
    for _ in 0..100 {
        let quick = tokio::spawn({
            let db = db.clone();
            async move { db.first(FAST, &[], |row| row.get::<i64>(0)).await }
        });
        assert_eq!(quick.await.unwrap().unwrap(), Some(7));
    }
    assert!(slow.iter().all(|it| !it.is_finished()));
    gate.open();
    for read in slow {
        read.await.unwrap().unwrap();
    }
    assert_eq!(gate.most.load(Ordering::SeqCst), 2);
}

/// The same on PostgreSQL, where slow reads wait for a lock, and where canceled ones must return their permits.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn slow_statements_have_their_own_connections_and_are_canceled_with_their_caller() {
    let (db, _database) =
        open(ReadLimits { inline: Duration::from_secs(60), ..TINY_INLINE_LIMIT }).await;
    if db.engine() == Engine::Sqlite {
        return;
    }
    const WAIT: &str = "select cast(1 as bigint) from (select pg_advisory_lock(77)) waited";
    const WAITING: &str =
        "select cast(count(*) as bigint) from pg_locks where locktype = 'advisory' and not granted
        and database = (select oid from pg_database where datname = current_database())";
    let waiting = async || {
        let count = db.first(WAITING, &[], |row| row.get::<i64>(0)).await.unwrap();
        count.unwrap()
    };
    let (open_gate, gate) = std::sync::mpsc::channel::<()>();
    let (locked, is_locked) = tokio::sync::oneshot::channel();
    let holder = tokio::spawn({
        let db = db.clone();
        async move {
            db.write(move |tx| {
                tx.each("select 1 from pg_advisory_xact_lock(77)", &[], |_| Ok(()))?;
                let _ = locked.send(());
                let _ = gate.recv();
                Ok::<_, Error>(())
            })
            .await
        }
    });
    is_locked.await.unwrap();
    let slow: Vec<_> = (0..8)
        .map(|_| {
            let db = db.clone();
            tokio::spawn(async move { db.each_slow(WAIT, &[], |_| Ok(())).await })
        })
        .collect();
    while waiting().await < 2 {}
    assert_eq!(waiting().await, 2, "more than two slow reads run at once");
    assert!(slow.iter().all(|it| !it.is_finished()));
    slow.iter().for_each(tokio::task::JoinHandle::abort);
    while waiting().await > 0 {}
    drop(open_gate);
    holder.await.unwrap().unwrap();
    db.each_slow(FAST, &[], |_| Ok(())).await.unwrap();
}
