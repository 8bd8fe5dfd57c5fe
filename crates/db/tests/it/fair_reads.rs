//! One person's slow reads leave room for everyone else's.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use db::{Db, Engine, Error, ReadLimits, set_read_group, with_deadline};
use testkit::Database;

const FAST: &str = "select cast(7 as bigint)";
/// Rows without end, for SQLite, where the visitor decides when it ends.
const ENDLESS_ROWS: &str =
    "with recursive n (i) as (select 1 union all select i + 1 from n) select i from n";
/// Waits for a lock, for PostgreSQL.
const WAIT: &str = "select cast(1 as bigint) from (select pg_advisory_xact_lock(77)) waited";

async fn open(limits: ReadLimits) -> (Db, Database) {
    let database = Database::empty().await;
    (database.open_with(limits).await, database)
}

const LIMITS: ReadLimits = ReadLimits {
    inline: Duration::from_millis(20),
    total: Duration::from_secs(300),
    slow_at_once: 2,
};

/// Runs work as a request of a person.
async fn as_person<T>(person: u8, work: impl Future<Output = T>) -> T {
    let work = async {
        set_read_group([person; 16]);
        work.await
    };
    with_deadline(Duration::from_secs(300), work).await.unwrap()
}

/// Statements that run until they are released.
struct Slow {
    db: Db,
    is_released: Arc<AtomicBool>,
    started: Arc<AtomicUsize>,
    lock: Option<std::sync::mpsc::Sender<()>>,
}

impl Slow {
    async fn new(db: &Db) -> Slow {
        let lock = match db.engine() {
            Engine::Sqlite => None,
            Engine::Postgres => Some(hold_lock(db).await),
        };
        let (is_released, started) = (Arc::default(), Arc::default());
        Slow { db: db.clone(), is_released, started, lock }
    }

    fn run(&self, person: u8) -> tokio::task::JoinHandle<()> {
        let (db, is_released) = (self.db.clone(), self.is_released.clone());
        let started = self.started.clone();
        tokio::spawn(as_person(person, async move {
            if db.engine() == Engine::Postgres {
                db.first(WAIT, &[], |_| Ok(())).await.unwrap();
                return;
            }
            let mut is_counted = false;
            let read = db.each_slow(ENDLESS_ROWS, &[], |_| {
                if !std::mem::replace(&mut is_counted, true) {
                    started.fetch_add(1, Ordering::SeqCst);
                }
                match is_released.load(Ordering::SeqCst) {
                    true => Err(Error::Unique),
                    false => Ok(()),
                }
            });
            assert!(matches!(read.await, Err(Error::Unique)));
        }))
    }

    /// Waits until this many of them run.
    async fn wait_for(&self, count: usize) {
        let waiting = "select cast(count(*) as bigint) from pg_locks where locktype = 'advisory' and not granted
            and database = (select oid from pg_database where datname = current_database())";
        loop {
            let running = match self.db.engine() {
                Engine::Sqlite => self.started.load(Ordering::SeqCst),
                Engine::Postgres => {
                    let found = self.db.first(waiting, &[], |row| row.get::<i64>(0)).await;
                    usize::try_from(found.unwrap().unwrap()).unwrap()
                }
            };
            if running >= count {
                return;
            }
            tokio::task::yield_now().await;
        }
    }

    fn release(self) {
        self.is_released.store(true, Ordering::SeqCst);
        drop(self.lock);
    }
}

async fn hold_lock(db: &Db) -> std::sync::mpsc::Sender<()> {
    let (release, released) = std::sync::mpsc::channel::<()>();
    let (locked, is_locked) = tokio::sync::oneshot::channel();
    let db = db.clone();
    tokio::spawn(async move {
        let holding = db.write(move |tx| {
            tx.each("select 1 from pg_advisory_xact_lock(77)", &[], |_| Ok(()))?;
            let _ = locked.send(());
            let _ = released.recv();
            Ok::<_, Error>(())
        });
        holding.await.unwrap();
    });
    is_locked.await.unwrap();
    release
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn eight_slow_reads_of_one_person_leave_a_slow_read_of_another_its_place() {
    let (db, _database) = open(LIMITS).await;
    let slow = Slow::new(&db).await;
    let running: Vec<_> = (0..8).map(|_| slow.run(1)).collect();
    slow.wait_for(1).await;
    for _ in 0..20 {
        as_person(2, db.each_slow(FAST, &[], |_| Ok(()))).await.unwrap();
        let read = as_person(2, db.first(FAST, &[], |row| row.get::<i64>(0))).await;
        assert_eq!(read.unwrap(), Some(7));
        db.write(|tx| tx.each(FAST, &[], |_| Ok(()))).await.unwrap();
    }
    assert!(running.iter().all(|it| !it.is_finished()));
    slow.release();
    for it in running {
        it.await.unwrap();
    }
}

/// Until the server cancels them, slow reads are on connections that others share.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn slow_reads_on_shared_connections_do_not_hold_up_another_person() {
    let (db, _database) = open(ReadLimits { inline: Duration::from_secs(60), ..LIMITS }).await;
    if db.engine() == Engine::Sqlite {
        return;
    }
    let slow = Slow::new(&db).await;
    let running: Vec<_> = (0..8).map(|_| slow.run(1)).collect();
    slow.wait_for(3).await;
    for _ in 0..20 {
        let read = as_person(2, db.first(FAST, &[], |row| row.get::<i64>(0))).await;
        assert_eq!(read.unwrap(), Some(7));
    }
    assert!(running.iter().all(|it| !it.is_finished()));
    slow.release();
    for it in running {
        it.await.unwrap();
    }
}

/// A sequence counts how often a statement was started.
#[tokio::test]
async fn a_statement_that_was_slow_for_a_person_is_not_tried_on_a_shared_connection_again() {
    let (db, _database) = open(ReadLimits { inline: Duration::from_millis(100), ..LIMITS }).await;
    if db.engine() == Engine::Sqlite {
        return;
    }
    db.write(|tx| tx.execute("create sequence tries", &[])).await.unwrap();
    let slow = "select n from (select nextval('tries') as n offset 0) counted, pg_sleep(0.4)";
    let run = async |person| {
        as_person(person, db.first(slow, &[], |row| row.get::<i64>(0))).await.unwrap().unwrap()
    };
    // The first try is canceled and counts too; then the statement is known to be slow, for this person only.
    assert_eq!([run(1).await, run(1).await, run(1).await], [2, 3, 4]);
    assert_eq!(run(2).await, 6);
}

#[tokio::test]
async fn reads_end_at_the_deadline_of_their_request() {
    let (db, _database) = open(LIMITS).await;
    let endless = "with recursive n (i) as (select 1 union all select i + 1 from n)
        select cast(i as bigint) from n where i < 0";
    let reading = async { db.all(endless, &[], |row| row.get::<i64>(0)).await };
    let outcome = with_deadline(Duration::from_millis(200), reading).await;
    assert!(matches!(outcome, None | Some(Err(Error::TimedOut))), "{outcome:?}");
    assert_eq!(db.first(FAST, &[], |row| row.get::<i64>(0)).await.unwrap(), Some(7));
}

#[tokio::test(start_paused = true)]
async fn a_deadline_can_be_extended_and_ends_the_work() {
    let waiting = async |extra: u64| {
        with_deadline(Duration::from_secs(1), async {
            db::extend_deadline(Duration::from_secs(extra));
            tokio::time::sleep(Duration::from_secs(5)).await;
        })
        .await
    };
    assert_eq!(waiting(0).await, None);
    assert_eq!(waiting(3).await, None);
    assert_eq!(waiting(6).await, Some(()));
}
