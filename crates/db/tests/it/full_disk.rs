//! A full disk, simulated with SQLite's limit on the number of pages.

use db::{Db, Engine, Error, params};

use crate::{Notes, add};

async fn set_max_pages(db: &Db, pages: i64) -> i64 {
    let limit = format!("pragma max_page_count = {pages}");
    let set = db.write(move |tx| tx.first(&limit, &[], |row| row.get(0)));
    set.await.unwrap().unwrap()
}

fn add_image(tx: &mut db::Tx<'_>, id: i64, bytes: usize) -> Result<u64, Error> {
    let image = vec![7_u8; bytes];
    tx.execute("insert into notes (id, image) values ($1, $2)", params![id, &image])
}

#[tokio::test]
async fn a_full_disk_makes_writes_unavailable_until_there_is_space_again() {
    let notes = Notes::new().await;
    if notes.db.engine() == Engine::Postgres {
        return;
    }
    notes.db.write(|tx| add(tx, 1)).await.unwrap();
    set_max_pages(&notes.db, 40).await;
    for id in 2..5 {
        let full = notes.db.write(move |tx| {
            add(tx, id + 100)?;
            add_image(tx, id, 1 << 20)
        });
        let full = full.await;
        assert!(matches!(full, Err(Error::Unavailable(_))), "{full:?}");
    }
    // Reads still work, and so do writes that fit.
    assert_eq!(notes.ids().await, [1]);
    notes.db.write(|tx| add(tx, 2)).await.unwrap();
    set_max_pages(&notes.db, 4_000).await;
    notes.db.write(|tx| add_image(tx, 3, 1 << 20)).await.unwrap();
    assert_eq!(notes.ids().await, [1, 2, 3]);
}

#[tokio::test]
async fn concurrent_writes_are_whole_or_absent_when_the_disk_fills_up() {
    let notes = Notes::new().await;
    if notes.db.engine() == Engine::Postgres {
        return;
    }
    set_max_pages(&notes.db, 60).await;
    let writes: Vec<_> = (0..64_i64)
        .map(|id| {
            let db = notes.db.clone();
            tokio::spawn(async move {
                let write = db.write(move |tx| {
                    add(tx, id)?;
                    // A closure that ignores the failed statement must not be committed either.
                    let stored = add_image(tx, id + 1000, 1 << 14);
                    if id % 2 == 0 {
                        stored?;
                    }
                    add(tx, id + 2000)
                });
                (id, write.await)
            })
        })
        .collect();
    let mut expected = Vec::new();
    for write in writes {
        let (id, outcome) = write.await.unwrap();
        match outcome {
            Ok(()) => expected.extend([id, id + 1000, id + 2000]),
            Err(Error::Unavailable(_)) => {}
            Err(other) => panic!("{id}: {other:?}"),
        }
    }
    expected.sort_unstable();
    assert_eq!(notes.ids().await, expected);
}
