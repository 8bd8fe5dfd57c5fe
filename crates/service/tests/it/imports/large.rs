//! Large imports on PostgreSQL stay below its statement timeout, whatever the whole import takes.

use db::Engine;
use service::ingest::imports;
use testkit::World;
use testkit::draft::{checking, statement, txn};

use super::summary;

const ROWS: i64 = 10_000;
/// From the import's own row on, a statement may take 6.4 seconds. Every 500th transaction takes 0.4 seconds, so that all of
/// them take eight.
const SLOW_DATABASE: [&str; 4] = [
    "create function short_timeout() returns trigger language plpgsql as
    $$ begin perform set_config('statement_timeout', '6400', true); return new; end $$",
    "create trigger short_timeout before insert on imports for each row execute function short_timeout()",
    "create function slow_row() returns trigger language plpgsql as
    $$ begin perform pg_sleep(0.4); return new; end $$",
    "create trigger slow_row before insert on transactions for each row
    when (new.amount_minor % 500 = 0) execute function slow_row()",
];

#[tokio::test]
async fn an_import_may_take_longer_than_the_statement_timeout() {
    let world = World::new().await;
    if world.app.db.engine() == Engine::Sqlite {
        return;
    }
    let robin = world.person("robin@example.com").await;
    for sql in SLOW_DATABASE {
        world.app.db.write::<_, db::Error>(move |tx| tx.execute(sql, &[])).await.unwrap();
    }
    let rows = (1..=ROWS).map(|it| txn("2026-03-01", -it, "SHOP").id(&format!("t{it}")));
    let statement = statement([checking("Everyday").with_all(rows)]);
    let imported = imports::commit(&world.app, &robin.caller, statement).await.unwrap();
    assert_eq!(imported, summary(ROWS as usize, 0, 0, 0));
}
