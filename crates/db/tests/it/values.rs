//! Values are read back as they were written.

use base::{Currency, Date, Timestamp, TransactionId, date_from_days};
use db::{Error, Migration, Param, Value, params};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use testkit::Database;

use crate::Notes;

const VALUES: &[Migration] = &[Migration {
    version: 1,
    name: "values",
    sql: "create table things (id {int} primary key, number {int}, word text, image {bytes},
        posted_on {int}, seen_at {int}, owner {bytes}, currency text) {table}",
}];

type Things = (Option<i64>, Option<String>, Option<Vec<u8>>, Date, Timestamp, [u8; 16]);

fn things() -> impl Strategy<Value = Things> {
    // PostgreSQL cannot store NUL in text, so our texts never contain it.
    let text = "[^\u{0}]{0,40}";
    (
        any::<Option<i64>>(),
        proptest::option::of(text),
        any::<Option<Vec<u8>>>(),
        (-700_000_i64..2_900_000).prop_map(date_from_days),
        (-62_000_000_000_000_000_i64..250_000_000_000_000_000)
            .prop_map(|it| Timestamp::from_microsecond(it).unwrap()),
        any::<[u8; 16]>(),
    )
}

#[test]
fn every_value_is_read_back_as_it_was_written() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let database = runtime.block_on(Database::empty());
    let db = runtime.block_on(async {
        let db = database.open().await;
        db.migrate(VALUES).await.unwrap();
        db
    });
    let config = Config { cases: 100, failure_persistence: None, ..Config::default() };
    let law = TestRunner::new(config).run(&things(), |thing| {
        runtime.block_on(async {
            let stored = thing.clone();
            let back = db.write(move |tx| {
                let (number, word, image, on, at, owner) = &stored;
                let row = |id: i64| {
                    let image = Param::Bytes(image.as_deref());
                    let owner = TransactionId::from_bytes(*owner).into();
                    [id.into(), (*number).into(), word.into(), image]
                        .into_iter()
                        .chain([(*on).into(), (*at).into(), owner, "EUR".into()])
                        .collect::<Vec<Param<'_>>>()
                };
                tx.execute("delete from things", &[])?;
                tx.execute("insert into things values ($1, $2, $3, $4, $5, $6, $7, $8)", &row(1))?;
                let columns =
                    ["id", "number", "word", "image", "posted_on", "seen_at", "owner", "currency"];
                let many: [Param<'_>; 8] = row(2).try_into().unwrap();
                tx.insert_many("things", columns, [many])?;
                let sql =
                    "select number, word, image, posted_on, seen_at, owner, currency from things";
                tx.all(sql, &[], |row| {
                    assert_eq!(row.columns(), 7);
                    assert_eq!(row.get::<Currency>(6)?, Currency::EUR);
                    let owner: TransactionId = row.get(5)?;
                    let owner = *owner.as_bytes();
                    Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?, owner))
                })
            });
            let back: Result<Vec<Things>, Error> = back.await;
            assert_eq!(back.unwrap(), [thing.clone(), thing]);
        });
        Ok(())
    });
    law.unwrap();
}

#[tokio::test]
async fn a_null_parameter_keeps_its_type() {
    let notes = Notes::new().await;
    // The same statement with a value and without one, in either order.
    for word in [None, Some("a"), None] {
        let sql = "select id from notes where word = $1 or $1 is null";
        let found: Vec<i64> = notes.db.all(sql, params![word], |row| row.get(0)).await.unwrap();
        assert_eq!(found, [0; 0]);
    }
    let nothing = [Param::Int(None), Param::Text(None), Param::Bytes(None), Param::Id(None)];
    let sql = "select $1, $2, $3, $4";
    let read =
        |row: &db::Row<'_>| Ok([0, 1, 2, 3].map(|it| matches!(row.value(it), Ok(Value::Null))));
    assert_eq!(notes.db.first(sql, &nothing, read).await.unwrap(), Some([true; 4]));
}

#[tokio::test]
async fn a_value_of_another_type_is_an_error_that_names_the_column() {
    let notes = Notes::new().await;
    notes.db.write(|tx| crate::add(tx, 7)).await.unwrap();
    let sql = "select id, word from notes";
    let wrong = notes.db.first(sql, &[], |row| row.get::<String>(0)).await;
    assert_eq!(wrong.unwrap_err().to_string(), "column 0: expected text, found a number");
    let absent = notes.db.first(sql, &[], |row| row.get::<String>(1)).await;
    assert_eq!(absent.unwrap_err().to_string(), "column 1: expected text, found null");
    let unknown = notes.db.first("select 'ABC'", &[], |row| row.get::<Currency>(0)).await;
    assert!(matches!(unknown, Err(Error::Decode { column: 0, .. })), "{unknown:?}");
}

base::words!(Light { Red => "red", Green => "green" });
db::word_columns!(Light);

#[tokio::test]
async fn a_word_outside_its_set_is_an_error_that_names_the_word_and_the_column() {
    let notes = Notes::new().await;
    let sql = "select 'green', 'blue', cast(null as text)";
    let known = notes.db.first(sql, &[], |row| {
        let unset: Option<Light> = row.get(2)?;
        Ok((row.get::<Light>(0)?, unset, row.word(0, "Light", Light::parse)?))
    });
    assert_eq!(known.await.unwrap(), Some((Light::Green, None, Light::Green)));
    let expected = "column 1: \"blue\" is not a known Light";
    let unknown = notes.db.first(sql, &[], |row| row.get::<Light>(1)).await;
    assert_eq!(unknown.unwrap_err().to_string(), expected);
    let unknown = notes.db.first(sql, &[], |row| row.optional_word(1, "Light", Light::parse)).await;
    assert_eq!(unknown.unwrap_err().to_string(), expected);
}

#[tokio::test]
async fn parameters_bind_by_number_and_not_by_position() {
    let notes = Notes::new().await;
    let sql = "select $2, $1, $2";
    let read =
        |row: &db::Row<'_>| Ok((row.get::<String>(0)?, row.get::<i64>(1)?, row.get::<String>(2)?));
    let found = notes.db.first(sql, params![1_i64, "two"], read).await.unwrap();
    assert_eq!(found, Some(("two".to_owned(), 1, "two".to_owned())));
}

#[tokio::test]
async fn an_invalid_statement_is_an_internal_error() {
    let notes = Notes::new().await;
    let wrong: [(&str, &[Param<'_>]); 4] = [
        ("select nonsense from notes", &[]),
        ("select id from notes where id = $1", &[]),
        ("select id from notes where id = $2", params![1_i64]),
        ("select id from", &[]),
    ];
    for (sql, values) in wrong {
        let refused = notes.db.all(sql, values, |row| row.get::<i64>(0)).await;
        assert!(matches!(refused, Err(Error::Internal(_))), "{sql}: {refused:?}");
    }
}

#[tokio::test]
async fn first_returns_the_first_row_or_none() {
    let notes = Notes::new().await;
    let sql = "select id from notes order by id";
    let first = notes.db.first(sql, &[], |row| row.get::<i64>(0)).await.unwrap();
    assert_eq!(first, None);
    notes.db.write(|tx| crate::add(tx, 1).and_then(|()| crate::add(tx, 2))).await.unwrap();
    let first = notes.db.first(sql, &[], |row| row.get::<i64>(0)).await.unwrap();
    assert_eq!(first, Some(1));
    let first = notes.db.write(move |tx| tx.first(sql, &[], |row| row.get::<i64>(0))).await;
    assert_eq!(first.unwrap(), Some(1));
}
