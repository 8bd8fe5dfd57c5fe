//! Migrations are applied once, in order, and never undone.

use db::{Db, MigrateError, Migration, schema_version};
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
    assert!(matches!(refused, MigrateError::Newer { found: 2, known: 1 }), "{refused:?}");
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
async fn a_failed_migration_leaves_nothing_behind() {
    let database = Database::empty().await;
    let db = database.open().await;
    assert!(matches!(db.migrate(BROKEN).await, Err(MigrateError::Db(_))));
    assert_eq!(version(&db).await, None);
    assert!(db.check("select id from a").await.is_err());
    assert!(db.check("select id from d").await.is_err());
    assert_eq!(db.migrate(BOTH).await.unwrap(), 2);
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
