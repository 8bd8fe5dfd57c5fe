//! The files of a SQLite database become smaller again.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use db::{Db, Engine, Target, params};

use crate::{NOTES, add};

async fn on_disk() -> (Db, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let db = Db::open(&Target::sqlite(&folder.path().join("notes.db"))).await.unwrap();
    db.migrate(NOTES).await.unwrap();
    (db, folder)
}

fn size(folder: &tempfile::TempDir, name: &str) -> u64 {
    std::fs::metadata(folder.path().join(name)).unwrap().len()
}

#[tokio::test]
async fn deleted_rows_give_their_space_back_and_the_log_is_emptied() {
    let (db, folder) = on_disk().await;
    assert_eq!(db.engine(), Engine::Sqlite);
    let image = vec![7_u8; 1 << 20];
    let write = move |tx: &mut db::Tx<'_>| {
        for id in 0..12_i64 {
            tx.execute("insert into notes (id, image) values ($1, $2)", params![id, &image])?;
        }
        Ok::<_, db::Error>(())
    };
    db.write(write).await.unwrap();
    assert!(size(&folder, "notes.db-wal") > 12 << 20);
    assert_eq!(db.shrink().await.unwrap(), 0, "nothing is free");
    assert_eq!(size(&folder, "notes.db-wal"), 0);
    let full = size(&folder, "notes.db");
    assert!(full > 12 << 20, "{full}");

    db.write(|tx| tx.execute("delete from notes where id > 0", &[])).await.unwrap();
    let pages = db.shrink().await.unwrap();
    assert!(pages > 2_000, "{pages}");
    let small = size(&folder, "notes.db");
    assert!(small < 3 << 20, "{small}");
    db.write(|tx| add(tx, 100)).await.unwrap();
    let ids: Vec<i64> =
        db.all("select id from notes order by id", &[], |row| row.get(0)).await.unwrap();
    assert_eq!(ids, [0, 100]);
}

/// A reader keeps what it reads; the log is emptied after it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn shrinking_does_not_wait_for_readers() {
    let (db, folder) = on_disk().await;
    db.write(|tx| add(tx, 1)).await.unwrap();
    let (rows, counted) = (Arc::new(AtomicUsize::new(0)), db.clone());
    let (seen, runtime) = (rows.clone(), tokio::runtime::Handle::current());
    let reading = db.dump(db.tables().await.unwrap(), move |_, _| {
        seen.fetch_add(1, Ordering::SeqCst);
        runtime.block_on(async {
            counted.write(|tx| add(tx, 2)).await?;
            counted.shrink().await.map(drop)
        })
    });
    reading.await.unwrap();
    assert_eq!(
        rows.load(Ordering::SeqCst),
        1,
        "the row that was added meanwhile is not in the snapshot"
    );
    db.shrink().await.unwrap();
    assert_eq!(size(&folder, "notes.db-wal"), 0);
}
