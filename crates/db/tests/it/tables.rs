//! Exports and imports of whole tables, as backups use them.

use std::sync::{Arc, Mutex, mpsc};

use db::{Column, ColumnKind, Error, Migration, Param, Table};
use testkit::Database;

use crate::{NOTES, Notes, add};

const FAMILY: &[Migration] = &[Migration {
    version: 1,
    name: "family",
    sql: "create table zebras (id {int} primary key, name text, stripes {bytes}) {table};
        create table apes (zebra {int} references zebras (id), id {int}, primary key (zebra, id)) {clustered};
        create {unlogged} table request_marks (id {int} primary key) {table};",
}];

fn table(name: &str, columns: &[(&str, ColumnKind)]) -> Table {
    let column =
        |(name, kind): &(&str, ColumnKind)| Column { name: (*name).to_owned(), kind: *kind };
    Table { name: name.to_owned(), columns: columns.iter().map(column).collect() }
}

#[tokio::test]
async fn tables_are_listed_parents_first_with_sorted_columns() {
    let database = Database::empty().await;
    let db = database.open().await;
    db.migrate(FAMILY).await.unwrap();
    let (int, text, bytes) = (ColumnKind::Int, ColumnKind::Text, ColumnKind::Bytes);
    let expected = [
        table("zebras", &[("id", int), ("name", text), ("stripes", bytes)]),
        table("apes", &[("id", int), ("zebra", int)]),
    ];
    assert_eq!(db.tables().await.unwrap(), expected);
}

/// The order of creation says nothing: a foreign key may be added later, and Citus creates tables anew.
#[tokio::test]
async fn a_parent_that_was_created_after_its_child_is_listed_before_it() {
    let Some(database) = testkit::postgres_database().await else { return };
    const LATE: &[Migration] = &[Migration {
        version: 1,
        name: "late",
        sql: "create table apes (zebra bigint, id bigint primary key, ape bigint references apes (id));
            create table zebras (id bigint primary key);
            alter table apes add foreign key (zebra) references zebras (id);",
    }];
    let db = database.open().await;
    db.migrate(LATE).await.unwrap();
    let names: Vec<String> = db.tables().await.unwrap().into_iter().map(|it| it.name).collect();
    assert_eq!(names, ["zebras", "apes"]);
}

#[tokio::test]
async fn a_dump_is_one_snapshot_and_does_not_block_writers() {
    let notes = Notes::new().await;
    notes.db.write(|tx| add(tx, 1).and_then(|()| add(tx, 2))).await.unwrap();
    // The dump pauses at its first row until another transaction has committed.
    let (reached, reading) = tokio::sync::oneshot::channel();
    let (go, wait) = mpsc::channel();
    let mut pause = Some((reached, wait));
    let seen = Arc::new(Mutex::new(Vec::new()));
    let seeing = seen.clone();
    let tables = notes.db.tables().await.unwrap();
    let twice = [tables.clone(), tables].concat();
    let db = notes.db.clone();
    let dumping = tokio::task::spawn_blocking(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let dump = db.dump(twice, move |table, row| {
            if let Some((reached, wait)) = pause.take() {
                reached.send(()).unwrap();
                wait.recv().unwrap();
            }
            seeing.lock().unwrap().push((table, row.get::<i64>(0)?));
            Ok(())
        });
        runtime.block_on(dump)
    });
    reading.await.unwrap();
    notes.db.write(|tx| add(tx, 3)).await.unwrap();
    go.send(()).unwrap();
    dumping.await.unwrap().unwrap();
    assert_eq!(*seen.lock().unwrap(), [(0, 1), (0, 2), (1, 1), (1, 2)]);
    assert_eq!(notes.ids().await, [1, 2, 3]);
}

#[tokio::test]
async fn rows_dumped_from_one_database_can_be_inserted_into_another() {
    let from = Notes::new().await;
    from.db
        .write(|tx| {
            let image: &[u8] = &[0, 255, 7];
            let rows = [
                [1.into(), "é".into(), image.into(), Param::Int(None)],
                [2.into(), Param::Text(None), Param::Bytes(None), 1.into()],
            ];
            tx.insert_many("notes", ["id", "word", "image", "parent"], rows)
        })
        .await
        .unwrap();
    let to = Notes::new().await;
    let tables = from.db.tables().await.unwrap();
    type Row = (i64, Option<Vec<u8>>, Option<i64>, Option<String>);
    let read = |row: &db::Row<'_>| -> db::Result<Row> {
        Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))
    };
    let rows = Arc::new(Mutex::new(Vec::new()));
    let found = rows.clone();
    let dump = from.db.dump(tables.clone(), move |_, row| {
        found.lock().unwrap().push(read(row)?);
        Ok(())
    });
    dump.await.unwrap();
    let rows = std::mem::take(&mut *rows.lock().unwrap());
    let copied = rows.clone();
    let table = tables[0].clone();
    to.db
        .write(move |tx| {
            let rows = copied.iter().map(|(id, image, parent, word)| {
                vec![(*id).into(), Param::Bytes(image.as_deref()), (*parent).into(), word.into()]
            });
            table.insert_many(tx, rows)
        })
        .await
        .unwrap();
    let sql = "select id, image, parent, word from notes order by id";
    assert_eq!(to.db.all(sql, &[], read).await.unwrap(), rows);
    assert_eq!(rows.len(), 2);
}

#[tokio::test]
async fn an_error_of_the_visitor_ends_the_dump() {
    let notes = Notes::new().await;
    notes.db.write(|tx| add(tx, 1)).await.unwrap();
    let tables = notes.db.tables().await.unwrap();
    assert_eq!(tables.len(), NOTES.len());
    let stopped = notes.db.dump(tables, |_, _| Err(Error::unavailable("no room for it"))).await;
    assert!(matches!(stopped, Err(Error::Unavailable(_))));
    assert_eq!(notes.ids().await, [1]);
}

/// SQLite inserts many rows per statement, and the remainder one by one.
#[tokio::test]
async fn any_number_of_rows_is_inserted_completely() {
    for count in [0_i64, 1, 49, 50, 51, 100, 173] {
        let notes = crate::Notes::new().await;
        let insert = notes.db.write(move |tx| {
            let rows = (0..count).map(|it| [db::Param::from(it), db::Param::Text(None)]);
            tx.insert_many("notes", ["id", "word"], rows)
        });
        insert.await.unwrap();
        assert_eq!(notes.ids().await, (0..count).collect::<Vec<_>>());
        let again = notes.db.write(move |tx| {
            let rows = (count..count + 60).chain([count]).map(|it| [db::Param::from(it)]);
            tx.insert_many("notes", ["id"], rows)
        });
        assert!(matches!(again.await, Err(db::Error::Unique)));
        assert_eq!(notes.ids().await.len() as i64, count, "a failed insert left rows behind");
    }
}
