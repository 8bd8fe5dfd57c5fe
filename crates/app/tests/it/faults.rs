//! Processes that are killed during an import or a restore.

use std::time::Duration;

use crate::program::{Installation, pause};

/// An import is one transaction, so whenever the process dies, each import is complete or absent, and the next start
/// continues from there.
#[tokio::test]
async fn a_process_killed_during_an_import_leaves_all_or_none_of_it() {
    let args = ["demo", "--users", "3", "--transactions", "15000"];
    let it = Installation::empty().await;
    // The first kill comes while the schema is created, the later ones between and during imports.
    for (imports, milliseconds) in [(0, 40), (1, 0), (4, 15), (5, 5)] {
        let enough = count(&it, IMPORTS).await + imports;
        let mut demo = it.launch(&args);
        let has_progressed = async || imports == 0 || count(&it, IMPORTS).await >= enough;
        demo.wait_while_it_runs(has_progressed).await;
        pause(Duration::from_millis(milliseconds));
        demo.kill();
        assert_consistent(&it).await;
    }
    let demo = it.start(&args);
    let keys = std::fs::read_to_string(it.data_dir().join("keys.txt")).unwrap();
    for key in keys.lines() {
        let (_, answer) = demo.get("/v1/transactions?limit=1", Some(key));
        assert_eq!(answer["pagination"]["total_count"], 5_000);
    }
    demo.stop();
    assert_consistent(&it).await;
}

#[tokio::test]
async fn a_killed_restore_leaves_nothing_and_can_be_repeated() {
    let it = Installation::empty().await;
    it.start(&["demo", "--users", "2", "--transactions", "10000"]).stop();
    let file = it.path("keel.backup");
    let file = file.to_str().unwrap();
    it.run(&["backup", file]).succeeded();

    let other = Installation::empty().await;
    let mut is_done = false;
    for milliseconds in [50, 150, 300] {
        let mut restoring = other.command(&["restore", file]).spawn().unwrap();
        pause(Duration::from_millis(milliseconds));
        restoring.kill().unwrap();
        // A fast machine may finish the restore before the kill.
        is_done |= restoring.wait().unwrap().success();
        let rows = if is_done { 10_000 } else { 0 };
        assert_eq!(count(&other, ROWS).await, rows);
    }
    if !is_done {
        other.run(&["restore", file]).succeeded();
    }
    assert_eq!(count(&other, ROWS).await, 10_000);
    assert_consistent(&other).await;
}

const IMPORTS: &str = "select cast(count(*) as bigint) from imports";
const ROWS: &str = "select cast(count(*) as bigint) from transactions";
const REPORTED: &str = "select cast(coalesce(sum(new_count), 0) as bigint) from imports";

/// The count that the statement returns, or zero if there is no database or table yet.
async fn count(it: &Installation, sql: &str) -> i64 {
    if !it.is_on_postgres() && !it.data_dir().join("evenkeel.db").exists() {
        return 0;
    }
    let found = it.db().await.first(sql, &[], |row| row.get(0)).await;
    found.ok().flatten().unwrap_or(0)
}

/// Asserts that the transactions are exactly as many as the imports report, and that `doctor` finds no problem.
async fn assert_consistent(it: &Installation) {
    let doctor = it.run(&["doctor"]);
    let started = doctor.output.contains("ok    schema");
    assert!(doctor.code == Some(0) || !started, "{}", doctor.output);
    assert_eq!(count(it, ROWS).await, count(it, REPORTED).await);
}
