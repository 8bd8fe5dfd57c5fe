//! The connections of a process to PostgreSQL: how many there are, when they are closed, and what happens without more.

use std::time::Duration;

use db::{Db, Error, Target};
use testkit::postgres_database;

const FAST: &str = "select cast(7 as bigint)";
const SLEEP: &str = "select cast(7 as bigint) from pg_sleep(0.02)";

/// Counts this process's connections to the test's database. It has a connection of its own.
async fn open_connections(admin: &Db) -> i64 {
    // Autovacuum works on the database too, and a connection of `admin` has no name while it begins.
    let sql = "select cast(count(*) as bigint) from pg_stat_activity where datname = current_database()
        and backend_type = 'client backend' and application_name <> '' and application_name not in (select application_name from pg_stat_activity where pid = pg_backend_pid())";
    admin.first(sql, &[], |row| row.get(0)).await.unwrap().unwrap()
}

/// Reads, slow reads and transactions, many at once.
async fn use_all(db: &Db) {
    let tasks = (0..60).map(|number| {
        let db = db.clone();
        tokio::spawn(async move {
            match number % 3 {
                0 => db.first(SLEEP, &[], |row| row.get::<i64>(0)).await.map(drop),
                1 => db.each_slow(SLEEP, &[], |_| Ok(())).await,
                _ => db.write(|tx| tx.each(SLEEP, &[], |_| Ok(()))).await,
            }
        })
    });
    for task in tasks.collect::<Vec<_>>() {
        task.await.unwrap().unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_process_never_has_more_connections_than_the_setting() {
    let Some(database) = postgres_database().await else { return };
    let admin = Db::open(&database.target().with_connections(2)).await.unwrap();
    for (connections, listens) in [(2, false), (4, true), (9, true), (16, true)] {
        let db = Db::open(&database.target().with_connections(connections)).await.unwrap();
        let notifications = listens.then(|| db.listen(|_| {}));
        let most = tokio::select! {
            () = async { use_all(&db).await; use_all(&db).await } => open_connections(&admin).await,
            most = async {
                loop {
                    let now = open_connections(&admin).await;
                    assert!(now <= connections as i64, "{now} connections instead of {connections}");
                }
            } => most,
        };
        assert!(most >= connections as i64 / 2, "only {most} of {connections} were opened");
        drop((notifications, db));
        while open_connections(&admin).await > 0 {}
    }
}

#[tokio::test]
async fn connections_that_nobody_uses_are_closed() {
    let Some(database) = postgres_database().await else { return };
    let admin = Db::open(&database.target().with_connections(2)).await.unwrap();
    let db = Db::open(&database.target()).await.unwrap();
    use_all(&db).await;
    let before = open_connections(&admin).await;
    assert!(before > 4, "{before}");
    tokio::time::pause();
    tokio::time::advance(Duration::from_secs(61)).await;
    // The pool closes them at its next look.
    tokio::time::sleep(Duration::from_secs(11)).await;
    tokio::time::resume();
    let admin = Db::open(&database.target().with_connections(2)).await.unwrap();
    while open_connections(&admin).await > 2 {}
    assert_eq!(db.first(FAST, &[], |row| row.get::<i64>(0)).await.unwrap(), Some(7));
    db.write(|tx| tx.each(FAST, &[], |_| Ok(()))).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn with_fewer_connections_than_it_may_open_a_process_works_and_says_why_it_does_not_start() {
    let Some(database) = postgres_database().await else { return };
    let admin = Db::open(&database.target().with_connections(2)).await.unwrap();
    let name = database.url().unwrap().rsplit('/').next().unwrap().to_owned();
    let role = format!("{name}_limited");
    let create = format!("create role {role} login connection limit 3");
    admin.write(move |tx| tx.execute(&create, &[])).await.unwrap();
    let (_, rest) = database.url().unwrap().split_once('@').unwrap();
    let url = format!("postgres://{role}@{rest}");
    let db = Db::open(&Target::postgres(&url).unwrap()).await.unwrap();
    use_all_but_slow(&db).await;

    let refused = Db::open(&Target::postgres(&url).unwrap()).await;
    let error = match refused {
        Err(error) => error,
        Ok(_) => panic!("a fifth connection was accepted"),
    };
    assert!(error.is_out_of_connections());
    let Error::Unavailable(cause) = error else { panic!("{error:?}") };
    for part in ["accepts no more connections", "max_connections", "database.connections"] {
        assert!(cause.to_string().contains(part), "{part} is not in: {cause}");
    }
    drop(db);
    let drop_role = format!("drop role {role}");
    admin.write(move |tx| tx.execute(&drop_role, &[])).await.unwrap();
}

async fn use_all_but_slow(db: &Db) {
    let tasks = (0..40).map(|number| {
        let db = db.clone();
        tokio::spawn(async move {
            match number % 2 {
                0 => db.first(SLEEP, &[], |row| row.get::<i64>(0)).await.map(drop),
                _ => db.write(|tx| tx.each(SLEEP, &[], |_| Ok(()))).await,
            }
        })
    });
    for task in tasks.collect::<Vec<_>>() {
        task.await.unwrap().unwrap();
    }
}
