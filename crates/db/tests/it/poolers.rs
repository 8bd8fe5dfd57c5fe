//! PostgreSQL behind PgBouncer, where it is installed: what works is used, and what cannot work is refused.

use db::{Db, Error, Target, params};
use testkit::{Database, PgBouncer, postgres_database};

use crate::{NOTES, add};

/// PgBouncer keeps track of prepared statements from this version on.
const TRACKING: (u32, u32) = (1, 21);
const SETTING: &str = "select current_setting('plan_cache_mode')";

/// The installed programs, with a database; none where the tests run on SQLite.
async fn programs() -> Option<(Database, Vec<(std::path::PathBuf, (u32, u32))>)> {
    let database = postgres_database().await?;
    Some((database, PgBouncer::installed()))
}

async fn setting(db: &Db) -> (String, String) {
    let read = db.first(SETTING, &[], |row| row.get::<String>(0)).await.unwrap().unwrap();
    let write = db.write(|tx| tx.first(SETTING, &[], |row| row.get::<String>(0)));
    (read, write.await.unwrap().unwrap())
}

/// Two processes read and write at the same time, with many different statements.
async fn use_both(url: &str) {
    let target = Target::postgres(url).unwrap();
    let both = [Db::open(&target).await.unwrap(), Db::open(&target).await.unwrap()];
    both[0].migrate(NOTES).await.unwrap();
    let working = (0..40_i64).map(|number| {
        let db = both[(number % 2) as usize].clone();
        tokio::spawn(async move {
            db.write(move |tx| add(tx, number)).await.unwrap();
            for round in 0..10_i64 {
                let answer = number * 1_000 + round;
                let sql = format!("select cast({answer} as bigint) + $1");
                let read = db.first(&sql, params![1_i64], |row| row.get::<i64>(0)).await;
                assert_eq!(read.unwrap(), Some(answer + 1));
                let sql = format!("select id + {answer} from notes where id = $1");
                let read =
                    db.write(move |tx| tx.first(&sql, params![number], |row| row.get::<i64>(0)));
                assert_eq!(read.await.unwrap(), Some(number + answer));
            }
        })
    });
    for work in working.collect::<Vec<_>>() {
        work.await.unwrap();
    }
    for db in &both {
        let (read, write) = setting(db).await;
        assert_eq!((read.as_str(), write.as_str()), ("force_generic_plan", "force_generic_plan"));
        let slow = db.each_slow("select cast(7 as bigint)", &[], |_| Ok(())).await;
        slow.unwrap();
        let tables = db.tables().await.unwrap();
        db.dump(tables, |_, _| Ok(())).await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_pooler_in_session_mode_is_used() {
    let Some((database, programs)) = programs().await else { return };
    for (program, _) in programs {
        let (_bouncer, url) = PgBouncer::start(&program, "session", database.url().unwrap()).await;
        let db = Db::open(&Target::postgres(&url).unwrap().with_connections(4)).await.unwrap();
        let (read, write) = setting(&db).await;
        assert_eq!((read.as_str(), write.as_str()), ("force_generic_plan", "force_generic_plan"));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_pooler_in_transaction_mode_is_used_if_it_tracks_statements_and_refused_if_not() {
    let Some((_, programs)) = programs().await else { return };
    for (program, version) in programs {
        let database = postgres_database().await.unwrap();
        let (_bouncer, url) =
            PgBouncer::start(&program, "transaction", database.url().unwrap()).await;
        if version >= TRACKING {
            use_both(&url).await;
            continue;
        }
        let opened = Db::open(&Target::postgres(&url).unwrap()).await;
        let Err(Error::Unsupported(sentence)) = opened else { panic!("{version:?} was accepted") };
        for part in ["pooler", "prepared statements", "1.21", "pool_mode = session"] {
            assert!(sentence.contains(part), "{part} is not in: {sentence}");
        }
    }
}

#[tokio::test]
async fn a_pooler_in_statement_mode_is_refused() {
    let Some((database, programs)) = programs().await else { return };
    for (program, _) in programs {
        let (_bouncer, url) =
            PgBouncer::start(&program, "statement", database.url().unwrap()).await;
        let opened = Db::open(&Target::postgres(&url).unwrap()).await;
        let Err(Error::Unsupported(sentence)) = opened else { panic!("it was accepted") };
        assert!(sentence.contains("no transactions"), "{sentence}");
    }
}
