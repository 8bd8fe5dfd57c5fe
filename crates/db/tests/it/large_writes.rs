//! Writes of many rows are split into statements that each stay below the time limit.

use db::{Engine, Error, Param, Tx};

use crate::Notes;

const ROWS: i64 = 10_000;
/// Every 500th row takes a tenth of a second, so that all rows take two seconds.
const SLOW_ROWS: [&str; 2] = [
    "create function slow_row() returns trigger language plpgsql as
    $$ begin perform pg_sleep(0.1); return new; end $$",
    "create trigger slow_row before insert or update on notes for each row
    when (new.id % 500 = 0) execute function slow_row()",
];

#[tokio::test]
async fn many_rows_are_written_by_several_statements() {
    let notes = Notes::new().await;
    if notes.db.engine() == Engine::Sqlite {
        return;
    }
    let write = |tx: &mut Tx<'_>| {
        for sql in SLOW_ROWS {
            tx.execute(sql, &[])?;
        }
        tx.execute("set local statement_timeout = 1600", &[])?;
        let words: Vec<String> = (0..ROWS).map(|it| format!("word {it}")).collect();
        let rows = words.iter().zip(0..).map(|(word, id): (_, i64)| [id.into(), word.into()]);
        tx.insert_many("notes", ["id", "word"], rows)?;
        let rows: Vec<[Param<'_>; 2]> =
            (0..ROWS).map(|it| [it.into(), Param::Text(None)]).collect();
        let changed = tx.execute_each("update notes set word = $2 where id = $1", &rows)?;
        Ok::<_, Error>(changed)
    };
    let changed = notes.db.write(write).await.unwrap();
    assert_eq!(changed, vec![1; ROWS as usize]);
    assert_eq!(notes.ids().await.len(), ROWS as usize);
}

#[tokio::test]
async fn work_on_a_whole_history_has_a_longer_limit() {
    let notes = Notes::new().await;
    if notes.db.engine() == Engine::Sqlite {
        return;
    }
    let limit = |tx: &mut Tx<'_>| {
        tx.first("select current_setting('statement_timeout')", &[], |row| row.get::<String>(0))
    };
    let long = move |tx: &mut Tx<'_>| {
        tx.allow_long_statements()?;
        limit(tx)
    };
    assert_eq!(notes.db.write(long).await.unwrap().as_deref(), Some("5min"));
    // The next transaction on the same connection has the usual limit again.
    assert_eq!(notes.db.write(limit).await.unwrap().as_deref(), Some("15s"));
}
