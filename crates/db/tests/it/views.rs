//! Views show ids, dates, times and amounts as people and the API write them, on both engines.

use base::category::Category;
use base::{Currency, Date, Money, TransactionId, date_from_days};
use db::{Db, Engine, MigrateError, Migration, params};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use testkit::Database;

const SAMPLES: Migration = Migration {
    version: 1,
    name: "samples",
    sql: "create table samples (id {bytes} primary key, minor {int}, currency text, posted_on {int}, seen_at {int},
        quantity text, category text) {table}",
};
const WITH_COLUMN: Migration = Migration {
    version: 2,
    name: "column",
    sql: "alter table samples rename column quantity to units",
};

const VIEWS: &str = "-- Comments are left out.

-- Every sample; it's a test.
create view samples_view as
select {id txn_ s.id} as id, {money s.minor s.currency} as amount, {date s.posted_on} as posted_on,
    {time s.seen_at} as seen_at, {decimal s.quantity} as quantity, {primary s.category} as tier1,
    {flag s.minor is null} as is_empty
from samples s;
";
const OTHER_VIEWS: &str = "-- Only the units.
create view units_view as
select {decimal s.units} as units from samples s;
";

async fn sampled() -> (Database, Db) {
    let database = Database::empty().await;
    let db = database.open().await;
    db.migrate(&[SAMPLES]).await.unwrap();
    assert!(db.create_views(VIEWS).await.unwrap());
    (database, db)
}

type Sample = ([u8; 16], Option<i64>, Currency, Date, i64, Category);

fn samples() -> impl Strategy<Value = Sample> {
    let currency = proptest::sample::select(Currency::codes().collect::<Vec<_>>());
    (
        any::<[u8; 16]>(),
        proptest::option::of(-900_000_000_000_000_i64..900_000_000_000_000),
        currency.prop_map(|it| Currency::parse(it).unwrap()),
        (-700_000_i64..2_900_000).prop_map(date_from_days),
        0_i64..9_000_000_000,
        proptest::sample::select(Category::ALL.to_vec()),
    )
}

const READ: &str =
    "select id, cast(amount as text), cast(posted_on as text), tier1 from samples_view";

#[test]
fn a_view_shows_values_as_the_api_writes_them() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let (_database, db) = runtime.block_on(sampled());
    let config = Config { cases: 100, failure_persistence: None, ..Config::default() };
    let law = TestRunner::new(config).run(&samples(), |(id, minor, currency, day, seconds, category)| {
        let id = TransactionId::from_bytes(id);
        let row = runtime.block_on(async {
            db.write::<_, db::Error>(move |tx| {
                tx.execute("delete from samples", &[])?;
                let values = params![id, minor, currency.code(), day, seconds * 1_000_000, category.detailed()];
                tx.execute(
                    "insert into samples (id, minor, currency, posted_on, seen_at, quantity, category)
                    values ($1, $2, $3, $4, $5, '1.5', $6)",
                    values,
                )
            })
            .await
            .unwrap();
            db.first(READ, &[], |row| {
                Ok((row.get::<String>(0)?, row.get::<Option<String>>(1)?, row.get::<String>(2)?, row.get::<String>(3)?))
            })
            .await
            .unwrap()
            .unwrap()
        });
        prop_assert_eq!(row.0, id.to_string());
        prop_assert_eq!(row.1.is_none(), minor.is_none());
        if let (Some(shown), Some(minor)) = (row.1, minor) {
            let shown_with_code = Money::new(minor, currency).to_string();
            let expected = shown_with_code.split(' ').next().unwrap().to_owned();
            match db.engine() {
                Engine::Postgres => prop_assert_eq!(shown, expected),
                Engine::Sqlite => prop_assert_eq!(shown.parse::<f64>(), expected.parse::<f64>()),
            }
        }
        prop_assert_eq!(row.2, day.to_string());
        prop_assert_eq!(row.3, category.primary());
        Ok(())
    });
    law.unwrap();
}

#[tokio::test]
async fn times_are_in_utc_and_numbers_can_be_compared() {
    let (_database, db) = sampled().await;
    db.write::<_, db::Error>(|tx| {
        tx.execute(
            "insert into samples (id, minor, currency, posted_on, seen_at, quantity, category)
            values ($1, -720, 'USD', 0, 1772323200999999, '12.000000001', null)",
            params![TransactionId::from_bytes([7; 16])],
        )
    })
    .await
    .unwrap();
    let time = match db.engine() {
        Engine::Sqlite => "seen_at",
        Engine::Postgres => {
            "to_char(seen_at at time zone 'UTC', 'YYYY-MM-DD') || 'T' || to_char(seen_at at time zone 'UTC', 'HH24:MI:SS') || 'Z'"
        }
    };
    let sql = format!(
        "select {time} from samples_view where amount < -7 and quantity > 12 and not is_empty"
    );
    let shown: Option<String> = db.first(&sql, &[], |row| row.get(0)).await.unwrap();
    assert_eq!(shown.as_deref(), Some("2026-03-01T00:00:00Z"));
}

#[tokio::test]
async fn views_are_listed_kept_and_replaced() {
    let (_database, db) = sampled().await;
    assert!(!db.create_views(VIEWS).await.unwrap(), "the same views are not created again");
    let listed = || {
        db.all("select name, description from evenkeel_views", &[], |row| {
            Ok((row.get::<String>(0)?, row.get::<String>(1)?))
        })
    };
    let both = |name: &str, text: &str| vec![(name.to_owned(), text.to_owned())];
    assert_eq!(listed().await.unwrap(), both("samples_view", "Every sample; it's a test."));
    // A migration may change what a view reads.
    assert_eq!(db.migrate(&[SAMPLES, WITH_COLUMN]).await.unwrap(), 1);
    let gone = db.first("select id from samples_view", &[], |row| row.get::<String>(0)).await;
    assert!(gone.is_err(), "a view that reads the old column is left");
    assert!(db.create_views(OTHER_VIEWS).await.unwrap());
    assert_eq!(listed().await.unwrap(), both("units_view", "Only the units."));
}

#[tokio::test]
async fn a_view_of_the_operator_is_named_before_it_is_lost() {
    let (_database, db) = sampled().await;
    db.write::<_, db::Error>(|tx| {
        tx.execute("create view mine as select id from samples_view", &[])
    })
    .await
    .unwrap();
    let refused = db.migrate(&[SAMPLES, WITH_COLUMN]).await.unwrap_err();
    match db.engine() {
        // SQLite drops the view below it, and then refuses to change the table.
        Engine::Sqlite => {
            assert!(format!("{refused:?}").contains("error in view mine"), "{refused:?}")
        }
        Engine::Postgres => assert!(
            matches!(&refused, MigrateError::ViewInUse { name, .. } if name == "samples_view"),
            "{refused:?}"
        ),
    }
    db.check("select id from mine").await.unwrap();
}
