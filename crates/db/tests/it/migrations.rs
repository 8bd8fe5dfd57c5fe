//! Migrations are applied once, in order, and never undone. Programs that do not know the newest ones go on working if
//! these allow it.

use std::sync::mpsc;
use std::time::Duration;

use db::{Db, Engine, Error, LockWait, MigrateError, Migration, params, schema_version};
use testkit::Database;

const FIRST: Migration = Migration {
    version: 1,
    name: "first",
    sql: "create table a (id {int} primary key, image {bytes}) {table}; create index a_image on a (image);",
};
const SECOND: Migration = Migration {
    version: 2,
    name: "second",
    sql: "create table b (user_id {bytes}, id {int}, primary key (user_id, id)) {clustered};
        create {unlogged} table c (id {int} primary key) {table};",
};
const ONE: &[Migration] = &[FIRST];
const BOTH: &[Migration] = &[FIRST, SECOND];
const EDITED: &[Migration] =
    &[Migration { sql: "create table a (id {int} primary key) {table}", ..FIRST }, SECOND];
const BROKEN: &[Migration] = &[
    FIRST,
    Migration { version: 2, name: "broken", sql: "create table d (id {int}) {table}; nonsense" },
];

async fn version(db: &Db) -> Option<i64> {
    schema_version(db).await.unwrap()
}

#[tokio::test]
async fn each_migration_is_applied_once_and_later_ones_follow() {
    let database = Database::empty().await;
    let db = database.open().await;
    assert_eq!(version(&db).await, None);
    assert_eq!(db.migrate(ONE).await.unwrap(), 1);
    assert_eq!(version(&db).await, Some(1));
    assert_eq!(db.migrate(ONE).await.unwrap(), 0);
    assert_eq!(db.migrate(BOTH).await.unwrap(), 1);
    assert_eq!(version(&db).await, Some(2));
    let again = database.open().await;
    assert_eq!(again.migrate(BOTH).await.unwrap(), 0);
    db.check("select user_id, id from b").await.unwrap();
}

#[tokio::test]
async fn a_database_of_a_newer_program_is_refused() {
    let database = Database::empty().await;
    let db = database.open().await;
    db.migrate(BOTH).await.unwrap();
    let refused = db.migrate(ONE).await.unwrap_err();
    let is_expected = matches!(refused, MigrateError::Newer { found: 2, known: 1, needed: 2 });
    assert!(is_expected, "{refused:?}");
    assert!(refused.to_string().contains("newer Evenkeel"), "{refused}");
    assert_eq!(version(&db).await, Some(2));
}

#[tokio::test]
async fn an_edited_migration_is_refused() {
    let database = Database::empty().await;
    let db = database.open().await;
    db.migrate(ONE).await.unwrap();
    let refused = db.migrate(EDITED).await.unwrap_err();
    assert!(matches!(refused, MigrateError::Differs { version: 1 }), "{refused:?}");
    assert!(db.check("select id from b").await.is_err(), "a migration was applied");
}

#[tokio::test]
async fn a_failed_migration_leaves_nothing_of_itself_behind() {
    let database = Database::empty().await;
    let db = database.open().await;
    let failed = db.migrate(BROKEN).await.unwrap_err();
    assert!(matches!(failed, MigrateError::Failed { version: 2, .. }), "{failed:?}");
    assert!(failed.to_string().contains("run `evenkeel migrate`"), "{failed}");
    assert_eq!(version(&db).await, Some(1));
    assert!(db.check("select id from d").await.is_err());
    assert_eq!(db.migrate(BOTH).await.unwrap(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn processes_that_start_together_apply_each_migration_once() {
    for _ in 0..5 {
        let database = Database::empty().await;
        let starts: Vec<_> = (0..4)
            .map(|_| {
                let target = database.target();
                tokio::spawn(async move {
                    let db = Db::open(&target).await.unwrap();
                    db.migrate(BOTH).await.unwrap()
                })
            })
            .collect();
        let mut steps = 0;
        for start in starts {
            steps += start.await.unwrap();
        }
        assert_eq!(steps, 2);
    }
}

const EXPANDING: &[Migration] = &[
    FIRST,
    Migration {
        version: 2,
        name: "expanding",
        sql: "{works with 1} alter table a add column word text",
    },
    Migration {
        version: 3,
        name: "more",
        sql: "{works with 2} create table more (id {int}) {table}",
    },
];

#[tokio::test]
async fn a_program_works_with_later_migrations_that_allow_it() {
    let database = Database::empty().await;
    let db = database.open().await;
    db.migrate(&EXPANDING[..2]).await.unwrap();
    assert_eq!(db.migrate(ONE).await.unwrap(), 0);
    let state = db.schema_state(ONE).await.unwrap();
    assert!(state.is_newer() && state.pending.is_empty(), "{state:?}");
    assert_eq!(db.oldest_program().await.unwrap(), Some(1));
    // The third step still works with programs that know the second, and no longer with those that know the first only.
    db.migrate(EXPANDING).await.unwrap();
    assert_eq!(db.migrate(&EXPANDING[..2]).await.unwrap(), 0);
    let refused = db.migrate(ONE).await.unwrap_err();
    let is_expected = matches!(refused, MigrateError::Newer { found: 3, known: 1, needed: 2 });
    assert!(is_expected, "{refused:?}");
    assert_eq!(db.oldest_program().await.unwrap(), Some(2));
}

#[tokio::test]
async fn pending_steps_can_be_listed_without_applying_them() {
    let database = Database::empty().await;
    let db = database.open().await;
    let state = db.schema_state(EXPANDING).await.unwrap();
    assert_eq!((state.found, state.known, state.pending.len()), (None, 3, 3));
    assert_eq!(version(&db).await, None);
    db.migrate(ONE).await.unwrap();
    let pending = db.schema_state(EXPANDING).await.unwrap().pending;
    let shown: Vec<_> =
        pending.iter().map(|it| (it.version, it.name, it.keeps_older_programs)).collect();
    assert_eq!(shown, [(2, "expanding", true), (3, "more", true)]);
    assert!(!db.schema_state(BOTH).await.unwrap().pending[0].keeps_older_programs);
}

#[tokio::test]
async fn a_database_from_before_programs_were_recorded_is_migrated() {
    let database = Database::empty().await;
    let db = database.open().await;
    db.migrate(ONE).await.unwrap();
    db.write(|tx| {
        tx.execute("alter table schema_migrations drop column is_finished", &[])?;
        tx.execute("alter table schema_migrations drop column oldest_program", &[])
    })
    .await
    .unwrap();
    assert_eq!(db.oldest_program().await.unwrap(), Some(1));
    assert_eq!(db.migrate(ONE).await.unwrap(), 0);
    assert_eq!(db.migrate(EXPANDING).await.unwrap(), 2);
    assert_eq!(db.migrate(&EXPANDING[..2]).await.unwrap(), 0);
}

const WORDS: Migration = Migration {
    version: 1,
    name: "words",
    sql: "create table words (id {int} primary key, word text not null) {table}",
};
const INDEXED: &[Migration] = &[
    WORDS,
    Migration {
        version: 2,
        name: "indexed",
        sql: "{works with 1} alter table words add column length {int};
            {concurrently}
            -- One word; one row.
            create unique index words_by_word on words (word);
            create index words_by_length
                on words (length);
            {end concurrently}",
    },
];

async fn indexes(db: &Db) -> Vec<String> {
    let sql = match db.engine() {
        Engine::Sqlite => {
            "select name from sqlite_schema where type = 'index' and name like 'words_by_%' order by name"
        }
        Engine::Postgres => {
            "select cast(c.relname as text) from pg_index i join pg_class c on c.oid = i.indexrelid
            where i.indisvalid and c.relname like 'words_by_%' order by c.relname"
        }
    };
    db.all(sql, &[], |row| row.get(0)).await.unwrap()
}

#[tokio::test]
async fn indexes_that_are_built_concurrently_exist_afterwards() {
    let database = Database::empty().await;
    let db = database.open().await;
    assert_eq!(db.migrate(INDEXED).await.unwrap(), 2);
    assert_eq!(indexes(&db).await, ["words_by_length", "words_by_word"]);
    assert!(db.schema_state(INDEXED).await.unwrap().pending.is_empty());
    assert_eq!(db.migrate(&INDEXED[..1]).await.unwrap(), 0);
}

#[tokio::test]
async fn an_interrupted_index_build_is_begun_anew() {
    let database = Database::empty().await;
    let db = database.open().await;
    db.migrate(&INDEXED[..1]).await.unwrap();
    let insert = "insert into words (id, word) values (1, 'same'), (2, 'same')";
    db.write(|tx| tx.execute(insert, &[])).await.unwrap();
    // The second row makes the unique index fail, which leaves an invalid one on PostgreSQL, as a crash would.
    let failed = db.migrate(INDEXED).await.unwrap_err();
    let state = db.schema_state(INDEXED).await.unwrap();
    match db.engine() {
        Engine::Sqlite => {
            assert!(matches!(failed, MigrateError::Failed { version: 2, .. }), "{failed:?}");
            assert!(!state.pending[0].is_begun);
        }
        Engine::Postgres => {
            assert!(matches!(failed, MigrateError::Index { version: 2, .. }), "{failed:?}");
            assert!(failed.to_string().contains("words_by_word"), "{failed}");
            assert!(state.pending[0].is_begun);
            // Programs work without the index meanwhile.
            assert_eq!(db.migrate(&INDEXED[..1]).await.unwrap(), 0);
        }
    }
    assert_eq!(state.pending.len(), 1);
    db.write(|tx| tx.execute("delete from words where id = 2", &[])).await.unwrap();
    db.migrate(INDEXED).await.unwrap();
    assert_eq!(indexes(&db).await, ["words_by_length", "words_by_word"]);
    assert!(db.schema_state(INDEXED).await.unwrap().pending.is_empty());
}

const BRIEFLY: LockWait =
    LockWait { timeout: Duration::from_millis(100), tries: 3, pause: Duration::from_millis(50) };

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_migration_gives_way_to_work_on_its_tables_and_tries_again() {
    let database = Database::empty().await;
    let db = database.open().await;
    if db.engine() == Engine::Sqlite {
        return;
    }
    db.migrate(ONE).await.unwrap();
    let (release, released) = mpsc::channel::<()>();
    let (begun, has_begun) = tokio::sync::oneshot::channel();
    let other = database.open().await;
    // A transaction that has read the table keeps it from being altered.
    let reading = tokio::spawn(async move {
        other
            .write(move |tx| {
                tx.all("select id from a", &[], |row| row.get::<i64>(0))?;
                let _ = begun.send(());
                let _ = released.recv();
                Ok::<_, Error>(())
            })
            .await
    });
    has_begun.await.unwrap();
    let refused = db.migrate_with(EXPANDING, BRIEFLY).await.unwrap_err();
    assert!(matches!(refused, MigrateError::Locked { version: 2, .. }), "{refused:?}");
    assert_eq!(version(&db).await, Some(1));
    let patient = LockWait { tries: 200, ..BRIEFLY };
    let migrating = tokio::spawn({
        let db = db.clone();
        async move { db.migrate_with(EXPANDING, patient).await }
    });
    // Readers are held up by the waiting migration for no longer than its lock timeout.
    for _ in 0..5 {
        let read = db.all("select id from a", &[], |row| row.get::<i64>(0));
        tokio::time::timeout(Duration::from_secs(10), read).await.unwrap().unwrap();
    }
    release.send(()).unwrap();
    reading.await.unwrap().unwrap();
    assert_eq!(migrating.await.unwrap().unwrap(), 2);
}

const SLOW: &[Migration] = &[Migration {
    version: 1,
    name: "slow",
    sql: "create table limits (word text not null) {table};
        {only postgres}
        insert into limits select current_setting('statement_timeout');
        insert into limits select current_setting('lock_timeout');
        {end postgres}",
}];

#[tokio::test]
async fn a_migration_has_no_statement_timeout_and_a_short_lock_timeout() {
    let database = Database::empty().await;
    let db = database.open().await;
    db.migrate_with(SLOW, BRIEFLY).await.unwrap();
    let limits: Vec<String> =
        db.all("select word from limits", &[], |row| row.get(0)).await.unwrap();
    match db.engine() {
        Engine::Sqlite => assert_eq!(limits, [""; 0]),
        Engine::Postgres => assert_eq!(limits, ["0", "100ms"]),
    }
}

#[tokio::test]
async fn an_error_names_the_limit_that_stopped_a_statement() {
    let database = Database::empty().await;
    let db = database.open().await;
    if db.engine() == Engine::Sqlite {
        return;
    }
    db.migrate(ONE).await.unwrap();
    let stopped = db.write(|tx| {
        tx.execute("set local statement_timeout = 50", &[])?;
        tx.execute("select pg_sleep(5)", params![])
    });
    let stopped: Error = stopped.await.unwrap_err();
    let source = std::error::Error::source(&stopped).unwrap().to_string();
    assert!(stopped.is_canceled_statement(), "{stopped:?}");
    assert!(source.contains("statement_timeout") && source.contains("try again"), "{source}");
}
