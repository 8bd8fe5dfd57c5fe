//! Metrics of the database layer.

use base::metrics::{MetricValue, Sample};
use db::{Db, Error, params};

use crate::{Notes, add};

/// The samples of a family that have these labels.
fn samples(db: &Db, name: &str, labels: &[(&str, &str)]) -> Vec<Sample> {
    let families = db.metrics();
    let family = families.into_iter().find(|it| it.name == name).unwrap();
    let has = |it: &Sample| {
        labels.iter().all(|(name, value)| it.labels.contains(&(*name, (*value).to_owned())))
    };
    family.samples.into_iter().filter(has).collect()
}

/// Their sum; for histograms the count of values.
fn total(db: &Db, name: &str, labels: &[(&str, &str)]) -> i64 {
    let value = |it: Sample| match it.value {
        MetricValue::Number(number) => number,
        MetricValue::Nanoseconds(nanoseconds) => nanoseconds as i64,
        MetricValue::Histogram(it) => it.counts.iter().sum::<u64>() as i64,
    };
    samples(db, name, labels).into_iter().map(value).sum()
}

#[tokio::test]
async fn reads_transactions_and_errors_are_counted() {
    let notes = Notes::new().await;
    let (db, of_notes) = (&notes.db, [("table", "notes")]);
    let (reads, transactions) =
        (total(db, "db_read_seconds", &of_notes), total(db, "db_transaction_seconds", &[]));
    assert!(notes.ids().await.is_empty());
    assert_eq!(total(db, "db_read_seconds", &of_notes), reads + 1);
    db.write(|tx| add(tx, 1)).await.unwrap();
    assert_eq!(total(db, "db_transaction_seconds", &[]), transactions + 1);
    assert_eq!(total(db, "db_errors", &[("kind", "unique")]), 0);
    assert!(matches!(db.write(|tx| add(tx, 1)).await, Err(Error::Unique)));
    let missing = |tx: &mut db::Tx<'_>| {
        tx.execute("insert into notes (id, parent) values (2, $1)", params![99_i64])?;
        Ok::<_, Error>(())
    };
    assert!(matches!(db.write(missing).await, Err(Error::ForeignKey)));
    assert!(db.first("select nothing from notes", &[], |row| row.get::<i64>(0)).await.is_err());
    assert_eq!(total(db, "db_errors", &[("kind", "unique")]), 1);
    assert_eq!(total(db, "db_errors", &[("kind", "foreign_key")]), 1);
    assert_eq!(total(db, "db_errors", &[("kind", "internal")]), 1);
}

#[tokio::test]
async fn connections_and_waits_are_reported() {
    let notes = Notes::new().await;
    notes.db.write(|tx| add(tx, 1)).await.unwrap();
    notes.ids().await;
    let open = total(&notes.db, "db_connections", &[]);
    assert!(open >= 1, "{open}");
    assert_eq!(total(&notes.db, "db_connections", &[("state", "busy")]), 0);
    let engine = notes.db.engine().as_str();
    match notes.db.engine() {
        db::Engine::Sqlite => {
            assert!(total(&notes.db, "db_wait_seconds", &[("for", "writer")]) > 0);
            assert!(total(&notes.db, "sqlite_commit_batch", &[]) > 0);
            assert!(total(&notes.db, "sqlite_wal_bytes", &[]) > 0);
        }
        db::Engine::Postgres => {
            assert!(total(&notes.db, "db_wait_seconds", &[("for", "connection")]) > 0);
            let most = total(&notes.db, "db_connections_max", &[("engine", engine)]);
            assert!(most >= open, "{open} of {most}");
            assert!(samples(&notes.db, "sqlite_commit_batch", &[]).is_empty());
        }
    }
}
