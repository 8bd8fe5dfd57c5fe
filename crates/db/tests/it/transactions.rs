//! Transactions are atomic, and one's failure does not affect another.

use std::panic::resume_unwind;
use std::sync::mpsc;

use db::{Error, Param, params};

use crate::{Notes, add};

/// An error of the caller's own, next to database errors.
#[derive(Debug)]
enum Refused {
    ByRule,
    By(Error),
}

impl From<Error> for Refused {
    fn from(error: Error) -> Refused {
        Refused::By(error)
    }
}

#[tokio::test]
async fn a_transaction_commits_completely_or_not_at_all() {
    let notes = Notes::new().await;
    let kept = notes.db.write(|tx| {
        add(tx, 1)?;
        add(tx, 2)?;
        Ok::<_, Error>("both")
    });
    assert_eq!(kept.await.unwrap(), "both");
    let refused = notes.db.write(|tx| {
        add(tx, 3)?;
        Err::<(), _>(Refused::ByRule)
    });
    assert!(matches!(refused.await, Err(Refused::ByRule)));
    let panicked = notes.db.write(|tx| {
        add(tx, 4)?;
        // `resume_unwind` prints no panic message; the panic is intended.
        resume_unwind(Box::new("meant"));
        #[expect(unreachable_code, reason = "gives the closure its type")]
        Ok::<(), Refused>(())
    });
    assert!(matches!(panicked.await, Err(Refused::By(Error::Internal(_)))));
    assert_eq!(notes.ids().await, [1, 2]);
}

#[tokio::test]
async fn among_concurrent_transactions_only_the_failed_and_panicked_roll_back() {
    let notes = Notes::new().await;
    let mut writes = Vec::new();
    for id in 0..400_i64 {
        let db = notes.db.clone();
        writes.push(tokio::spawn(async move {
            let write = db.write(move |tx| {
                add(tx, id)?;
                match id % 5 {
                    1 => Err(Refused::ByRule),
                    // A duplicate id: the engine refuses it.
                    2 => Ok(add(tx, id)?),
                    3 => resume_unwind(Box::new("meant")),
                    _ => Ok(()),
                }
            });
            (id, write.await)
        }));
    }
    let mut good = Vec::new();
    for write in writes {
        let (id, outcome) = write.await.unwrap();
        match (id % 5, outcome) {
            (0 | 4, Ok(())) => good.push(id),
            (1, Err(Refused::ByRule)) | (2, Err(Refused::By(Error::Unique))) => {}
            (3, Err(Refused::By(Error::Internal(_)))) => {}
            (_, other) => panic!("{id}: {other:?}"),
        }
    }
    assert_eq!(notes.ids().await, good);
    assert_eq!(good.len(), 160);
}

#[tokio::test]
async fn transactions_queued_behind_a_failing_one_still_commit() {
    let notes = Notes::new().await;
    let (go, wait) = mpsc::channel();
    let long = notes.db.write(move |tx| {
        add(tx, 1)?;
        wait.recv().unwrap();
        Err::<(), _>(Refused::ByRule)
    });
    let behind = async {
        let writes: Vec<_> = (2..=10)
            .map(|id| {
                let db = notes.db.clone();
                tokio::spawn(async move { db.write(move |tx| add(tx, id)).await })
            })
            .collect();
        // All of them are queued before the long one ends.
        tokio::task::yield_now().await;
        go.send(()).unwrap();
        for write in writes {
            write.await.unwrap().unwrap();
        }
    };
    let (long, ()) = tokio::join!(long, behind);
    assert!(matches!(long, Err(Refused::ByRule)));
    assert_eq!(notes.ids().await, (2..=10).collect::<Vec<i64>>());
}

#[tokio::test]
async fn a_transaction_completes_even_if_its_caller_stops_waiting() {
    let notes = Notes::new().await;
    let (started, begun) = tokio::sync::oneshot::channel();
    let (go, wait) = mpsc::channel::<()>();
    let db = notes.db.clone();
    let caller = tokio::spawn(async move {
        db.write(move |tx| {
            started.send(()).unwrap();
            wait.recv().unwrap();
            add(tx, 1)
        })
        .await
    });
    begun.await.unwrap();
    caller.abort();
    assert!(caller.await.unwrap_err().is_cancelled());
    go.send(()).unwrap();
    // The second insert is queued behind the first on SQLite; on PostgreSQL it waits for the same row.
    let second = notes.db.write(|tx| add(tx, 1)).await;
    if second.is_ok() {
        // The second insert came first, so the first one failed with a duplicate id.
        assert_eq!(notes.db.engine(), db::Engine::Postgres);
    }
    assert_eq!(notes.ids().await, [1]);
}

#[tokio::test]
async fn reads_beside_a_long_transaction_see_the_state_before_it() {
    let notes = Notes::new().await;
    notes.db.write(|tx| add(tx, 1)).await.unwrap();
    let (started, begun) = tokio::sync::oneshot::channel();
    let (go, wait) = mpsc::channel();
    let long = notes.db.write(move |tx| {
        add(tx, 2)?;
        tx.execute("update notes set word = $1 where id = 1", params!["changed"])?;
        started.send(()).unwrap();
        wait.recv().unwrap();
        Ok::<_, Error>(())
    });
    let reading = async {
        begun.await.unwrap();
        assert_eq!(notes.ids().await, [1]);
        let word = "select word from notes where id = 1";
        let word: Option<Option<String>> =
            notes.db.first(word, &[], |row| row.get(0)).await.unwrap();
        assert_eq!(word, Some(None));
        go.send(()).unwrap();
    };
    let (long, ()) = tokio::join!(long, reading);
    long.unwrap();
    assert_eq!(notes.ids().await, [1, 2]);
}

#[tokio::test]
async fn a_transaction_sees_its_own_writes() {
    let notes = Notes::new().await;
    let seen = notes.db.write(|tx| {
        add(tx, 5)?;
        tx.all("select id from notes", &[], |row| row.get::<i64>(0))
    });
    assert_eq!(seen.await.unwrap(), [5]);
}

#[tokio::test]
async fn constraint_violations_are_reported_by_kind() {
    let notes = Notes::new().await;
    notes.db.write(|tx| add(tx, 1)).await.unwrap();
    let of =
        async |sql: &'static str| notes.db.write(move |tx| tx.execute(sql, &[])).await.unwrap_err();
    let twice = of("insert into notes (id) values (1)").await;
    assert!(matches!(twice, Error::Unique), "{twice:?}");
    let word = of("insert into notes (id, word) values (2, 'a'), (3, 'a')").await;
    assert!(matches!(word, Error::Unique), "{word:?}");
    let orphan = of("insert into notes (id, parent) values (4, 99)").await;
    assert!(matches!(orphan, Error::ForeignKey), "{orphan:?}");
    notes
        .db
        .write(|tx| tx.execute("insert into notes (id, parent) values (5, 1)", &[]))
        .await
        .unwrap();
    let parent = of("delete from notes where id = 1").await;
    assert!(matches!(parent, Error::ForeignKey), "{parent:?}");
    assert_eq!(notes.ids().await, [1, 5]);
}

#[tokio::test]
async fn a_failed_statement_fails_its_transaction_even_if_its_error_is_ignored() {
    let notes = Notes::new().await;
    let careless = notes.db.write(|tx| {
        add(tx, 1)?;
        // The error is ignored here. The engines on their own would treat that differently.
        let _ = add(tx, 1);
        let _ = add(tx, 2);
        Ok::<_, Error>(())
    });
    let outcome = careless.await;
    assert!(matches!(outcome, Err(Error::Unique)), "{outcome:?}");
    assert_eq!(notes.ids().await, [0; 0]);
}

#[tokio::test]
async fn many_rows_are_inserted_together_or_not_at_all() {
    let notes = Notes::new().await;
    let rows = |ids: std::ops::Range<i64>| ids.map(|id| [id.into(), Param::Text(None)]);
    let all = notes.db.write(move |tx| {
        tx.insert_many("notes", ["id", "word"], rows(0..0))?;
        tx.insert_many("notes", ["id", "word"], rows(0..1500))
    });
    all.await.unwrap();
    assert_eq!(notes.ids().await, (0..1500).collect::<Vec<i64>>());
    let again =
        notes.db.write(move |tx| tx.insert_many("notes", ["id", "word"], rows(1499..1510))).await;
    assert!(matches!(again, Err(Error::Unique)), "{again:?}");
    assert_eq!(notes.ids().await.len(), 1500);
    // The connection is still usable.
    let more = notes.db.write(move |tx| tx.insert_many("notes", ["id", "word"], rows(1500..1501)));
    more.await.unwrap();
    assert_eq!(notes.ids().await.len(), 1501);
}

/// On PostgreSQL a small insert is queued and sent with the next statement, which must see its rows and fail with it.
#[tokio::test]
async fn a_small_insert_is_visible_to_the_next_statement() {
    let notes = Notes::new().await;
    let rows = |ids: std::ops::Range<i64>| ids.map(|id| [id.into(), Param::Text(None)]);
    let columns = ["id", "word"];
    let seen = notes.db.write(move |tx| {
        tx.insert_many("notes", columns, rows(1..4))?;
        tx.insert_many("notes", columns, rows(4..5))?;
        tx.all("select id from notes order by id", &[], |row| row.get::<i64>(0))
    });
    assert_eq!(seen.await.unwrap(), [1, 2, 3, 4]);
    // The next step may be a statement, a copy of many rows, the commit, or a rollback.
    let statement = notes.db.write(move |tx| {
        let _ = tx.insert_many("notes", columns, rows(4..6));
        add(tx, 10)
    });
    assert!(matches!(statement.await, Err(Error::Unique)));
    let many = notes.db.write(move |tx| {
        let _ = tx.insert_many("notes", columns, rows(4..6));
        tx.insert_many("notes", columns, rows(20..60))
    });
    assert!(matches!(many.await, Err(Error::Unique)));
    let end = notes.db.write(move |tx| {
        let _ = tx.insert_many("notes", columns, rows(4..6));
        Ok::<(), Error>(())
    });
    assert!(matches!(end.await, Err(Error::Unique)));
    let refused = notes.db.write(move |tx| {
        tx.insert_many("notes", columns, rows(6..7))?;
        Err::<(), _>(Refused::ByRule)
    });
    assert!(matches!(refused.await, Err(Refused::ByRule)));
    let wrong = notes.db.write(move |tx| {
        add(tx, 11)?;
        let _ = tx.insert_many("nowhere", columns, rows(6..7));
        Ok::<(), Error>(())
    });
    wrong.await.unwrap_err();
    assert_eq!(notes.ids().await, [1, 2, 3, 4]);
    // Nothing is left queued on the connection.
    notes.db.write(|tx| add(tx, 5)).await.unwrap();
    assert_eq!(notes.ids().await, [1, 2, 3, 4, 5]);
}

#[tokio::test]
async fn two_processes_can_write_concurrently() {
    let notes = Notes::new().await;
    let other = notes.database.open().await;
    let mut writes = Vec::new();
    for id in 0..60_i64 {
        let db = if id % 2 == 0 { notes.db.clone() } else { other.clone() };
        writes.push(tokio::spawn(async move { db.write(move |tx| add(tx, id)).await }));
    }
    for write in writes {
        write.await.unwrap().unwrap();
    }
    assert_eq!(notes.ids().await.len(), 60);
}

#[tokio::test]
async fn execute_each_returns_the_number_of_changed_rows_per_parameter_row() {
    let notes = Notes::new().await;
    let all = |tx: &mut db::Tx<'_>| {
        let words: Vec<String> = (0..200).map(|id| format!("old {id}")).collect();
        let rows = (0..).zip(&words).map(|(id, word): (i64, _)| [id.into(), word.into()]);
        tx.insert_many("notes", ["id", "word"], rows)
    };
    notes.db.write(all).await.unwrap();
    const CHANGE: &str = "update notes set word = $2, image = $3
        where id = $1 and coalesce(word, 'none') = $4";
    // Pipelined and as one statement, with some rows missing and some that the condition excludes.
    for (first, count) in [(0, 1), (10, 16), (50, 17), (100, 150)] {
        let change = move |tx: &mut db::Tx<'_>| {
            let image: &[u8] = &[0, 255];
            let words: Vec<(i64, Option<String>, String)> = (first..first + count)
                .map(|id: i64| {
                    let old = if id % 5 == 0 { "other".to_owned() } else { format!("old {id}") };
                    (id, (id % 3 != 0).then(|| format!("né'w {id}")), old)
                })
                .collect();
            let rows: Vec<[Param<'_>; 4]> = words
                .iter()
                .map(|(id, word, old)| {
                    let image = (id % 2 == 0).then_some(image);
                    [(*id).into(), word.into(), image.into(), old.into()]
                })
                .collect();
            tx.execute_each(CHANGE, &rows)
        };
        let changed = notes.db.write(change).await.unwrap();
        let expected: Vec<u64> =
            (first..first + count).map(|id| u64::from(id % 5 != 0 && id < 200)).collect();
        assert_eq!(changed, expected, "{count} from {first}");
    }
    type Note = (i64, Option<String>, Option<Vec<u8>>);
    let read = |row: &db::Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?));
    let found: Vec<Note> =
        notes.db.all("select id, word, image from notes order by id", &[], read).await.unwrap();
    for (id, word, image) in found {
        let named = [0..1, 10..26, 50..67, 100..250].iter().any(|it| it.contains(&id));
        let expected = match named && id % 5 != 0 {
            true => {
                let word = (id % 3 != 0).then(|| format!("né'w {id}"));
                (word, (id % 2 == 0).then(|| vec![0, 255]))
            }
            false => (Some(format!("old {id}")), None),
        };
        assert_eq!((word, image), expected, "note {id}");
    }
    let none: &[[Param<'_>; 4]] = &[];
    assert!(notes.db.write(move |tx| tx.execute_each(CHANGE, none)).await.unwrap().is_empty());
    // A constraint violation keeps its kind, whatever the number of rows.
    let same = notes.db.write(|tx| {
        let rows: Vec<[Param<'_>; 1]> = (0..40_i64).map(|id| [id.into()]).collect();
        tx.execute_each("update notes set id = 7 where id = $1", &rows)
    });
    assert!(matches!(same.await, Err(Error::Unique)));
}

#[tokio::test]
async fn of_two_transactions_that_wait_for_each_other_one_can_be_run_again() {
    let notes = Notes::new().await;
    if notes.db.engine() == db::Engine::Sqlite {
        return;
    }
    notes.db.write(|tx| add(tx, 1).and_then(|()| add(tx, 2))).await.unwrap();
    let both_began = std::sync::Arc::new(std::sync::Barrier::new(2));
    let change = |first: i64, second: i64| {
        let both_began = both_began.clone();
        notes.db.write(move |tx| {
            const CHANGE: &str = "update notes set word = null where id = $1";
            tx.execute(CHANGE, params![first])?;
            both_began.wait();
            tx.execute(CHANGE, params![second])
        })
    };
    let (one, other) = tokio::join!(change(1, 2), change(2, 1));
    let failed: Vec<Error> = [one, other].into_iter().filter_map(Result::err).collect();
    assert_eq!(failed.len(), 1, "{failed:?}");
    assert!(failed[0].is_undone_conflict(), "{failed:?}");
    assert!(!Error::Unique.is_undone_conflict() && !Error::unavailable("").is_undone_conflict());
}
