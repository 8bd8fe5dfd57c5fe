//! A sharded database. These tests run only on a real cluster, which `cargo xtask citus` starts; all other tests of this
//! program then run on it as well.

use db::{LockWait, Migration};
use service::placement::PLACEMENTS;
use service::schema;
use testkit::draft::{checking, statement, txn};
use testkit::{Explainer, World, is_sharded};

use crate::placement::{NOT_WITH_CITUS, may_ask_all_nodes};

/// A statement that names its user must be answered by one node, whatever `placement` reads from its text.
#[tokio::test]
async fn citus_plans_every_statement_and_asks_one_node_where_the_user_is_named() {
    if !is_sharded() {
        return;
    }
    let world = World::new().await;
    let mut breaches = Vec::new();
    let is_excepted = |text: &str| NOT_WITH_CITUS.iter().any(|it| text.starts_with(it));
    let explainer = Explainer::connect(&world.database).await;
    for sql in schema::statements() {
        let text = sql.split_whitespace().collect::<Vec<_>>().join(" ");
        match explainer.explain(&sql).await {
            Err(error) if !is_excepted(&text) => breaches.push(format!("{error}: {text}")),
            Err(_) => {}
            Ok(plan) => {
                let is_one = !plan.contains("Task Count: ") || plan.contains("Task Count: 1\n");
                if !is_one && !may_ask_all_nodes(&text) {
                    breaches.push(format!("asks all nodes: {text}"));
                }
            }
        }
    }
    assert!(breaches.is_empty(), "{}\n{}", breaches.len(), breaches.join("\n"));
}

#[tokio::test]
async fn all_tables_are_placed_as_listed() {
    if !is_sharded() {
        return;
    }
    let world = World::new().await;
    let cluster = world.app.db.cluster().await.unwrap().unwrap();
    let misplaced = cluster.misplaced(PLACEMENTS);
    assert!(misplaced.is_empty() && cluster.is_sharded(), "{misplaced:?}");
    // Once more, nothing is left to do.
    assert_eq!(schema::shard(&world.app.db, 4, |_| ()).await.unwrap(), 0);
}

/// One of everything that a later migration may do.
const LATER: Migration = Migration {
    version: 1_000,
    name: "later",
    sql: "{works with 39}
-- A table of a person's rows; one for all people; one for the coordinator.
create table pets (
    user_id {bytes} not null references users (id) on delete cascade,
    id {bytes} not null,
    account_id {bytes} not null,
    primary key (user_id, id),
    foreign key (user_id, account_id) references accounts (user_id, id) on delete cascade
) {table};
create table species (name text primary key) {table};
create {unlogged} table sightings (id {int} primary key) {table};
alter table accounts add column pet_count {int} not null default 0;
update accounts set pet_count = 1 where name <> '';
insert into pets (user_id, id, account_id) select user_id, id, id from accounts where pet_count = 1;
drop index transactions_by_update;
create index transactions_by_update on transactions (user_id, updated_at);
{only postgres}
drop trigger transactions_search_update on transactions;
create trigger transactions_search_update after update of description on transactions
    for each row when (new.description <> old.description) execute function mark_updated_transaction();
{end postgres}
{concurrently}
create index pets_by_account on pets (user_id, account_id);
{end concurrently}",
};

#[tokio::test]
async fn a_later_migration_places_its_tables() {
    if !is_sharded() {
        return;
    }
    use db::Placement::{Distributed, Local, Reference};
    let world = World::new().await;
    let person = world.someone().await;
    person
        .import(statement([checking("Everyday").with(txn("2026-03-01", -1_200, "Coffee"))]))
        .await;
    let migrations: &'static [Migration] = [schema::MIGRATIONS, &[LATER]].concat().leak();
    let new = [("pets", Distributed), ("species", Reference), ("sightings", Local)];
    let placements: db::Placements = [PLACEMENTS, &new].concat().leak();
    let app = world.other_process().await;
    let applied = app.db.migrate_placed(migrations, placements, LockWait::default()).await;
    assert_eq!(applied.unwrap(), 1);
    let cluster = app.db.cluster().await.unwrap().unwrap();
    assert_eq!(cluster.misplaced(placements), Vec::<&str>::new());
    let count = async || {
        let sql = "select cast(count(*) as bigint) from pets";
        app.db.first(sql, &[], |row| row.get::<i64>(0)).await.unwrap()
    };
    assert_eq!(count().await, Some(1), "the rows that the migration wrote");
    // The foreign keys hold on the shards.
    let orphan = "insert into pets (user_id, id, account_id) values ($1, $1, $1)";
    let id = person.user.id;
    let refused = app.db.write(move |tx| tx.execute(orphan, db::params![id])).await;
    assert!(matches!(refused, Err(db::Error::ForeignKey)), "{refused:?}");
    service::access::users::delete(&app, person.user.id).await.unwrap();
    assert_eq!(count().await, Some(0), "the rows go with the person");
}
