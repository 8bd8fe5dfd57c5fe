//! Backup and restore: everything, into either engine, or nothing.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use db::{Db, Value};

use crate::program::{Installation, outcome, program};
use crate::serving::make_newer;

/// Every row of every table, as text, in an order of its own.
async fn everything(db: &Db) -> BTreeMap<String, Vec<String>> {
    let tables = db.tables().await.unwrap();
    let names: Vec<String> = tables.iter().map(|it| it.name.clone()).collect();
    let rows = Arc::new(Mutex::new(Vec::new()));
    let seen = rows.clone();
    let visit = move |table: usize, row: &db::Row<'_>| {
        let values: Vec<Value<'_>> = (0..row.columns()).map(|it| row.value(it).unwrap()).collect();
        seen.lock().unwrap().push((table, format!("{values:?}")));
        Ok(())
    };
    db.dump(tables, visit).await.unwrap();
    let mut found: BTreeMap<String, Vec<String>> =
        names.iter().map(|it| (it.clone(), Vec::new())).collect();
    for (table, row) in rows.lock().unwrap().drain(..) {
        found.get_mut(&names[table]).unwrap().push(row);
    }
    found.values_mut().for_each(|it| it.sort());
    found
}

/// The same without access, which a restore ends, and without the trails that it is noted in.
async fn everything_but_access(db: &Db) -> BTreeMap<String, Vec<String>> {
    let mut found = everything(db).await;
    found.retain(|name, _| {
        !["sessions", "oauth_tokens", "audit", "anchors"].contains(&name.as_str())
    });
    found
}

/// An installation with the demo in it, and its backup.
async fn backed_up() -> (Installation, PathBuf) {
    let it = Installation::new().await;
    it.start(&["demo"]).stop();
    let file = it.path("keel.backup");
    let said = it.run(&["backup", file.to_str().unwrap()]).succeeded();
    assert!(said.contains(" rows in "), "{said}");
    (it, file)
}

#[tokio::test]
async fn a_backup_restores_every_row_into_the_same_engine_and_the_other() {
    let (it, file) = backed_up().await;
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    let file = file.to_str().unwrap();
    let before = everything_but_access(&it.db().await).await;
    assert!(before["transactions"].len() > 1_000 && before["users"].len() == 1);

    let same = Installation::new().await;
    let said = same.run(&["restore", file]).succeeded();
    assert!(said.contains("Everyone is signed out"), "{said}");
    assert!(
        said.contains("These API keys are active") && said.contains("evenkeel key revoke"),
        "{said}"
    );
    assert!(said.contains("Demo") || said.contains("demo"), "the key is named: {said}");
    assert_eq!(everything_but_access(&same.db().await).await, before);
    same.run(&["doctor"]).succeeded();
    same.run(&["audit", "verify"]).succeeded();
    // The key came along, so the installation goes on as before.
    let server = same.start(&["serve"]);
    assert_eq!(server.get("/readyz", None).0, 200);
    server.stop();

    // On PostgreSQL this is the way back to a file.
    let folder = tempfile::tempdir().unwrap();
    let data_dir = folder.path().join("data");
    let mut command = program(folder.path());
    outcome(command.args(["restore", file, "--data-dir"]).arg(&data_dir)).succeeded();
    let db = Db::open(&db::Target::sqlite(&data_dir.join("evenkeel.db"))).await.unwrap();
    assert_eq!(everything_but_access(&db).await, before);
}

#[tokio::test]
async fn a_cut_or_changed_backup_is_refused_before_anything_is_written() {
    let (_it, file) = backed_up().await;
    let whole = fs::read(&file).unwrap();
    let other = Installation::new().await;
    let broken = other.path("broken.backup");
    let cuts = [0, 1, 10, whole.len() / 3, whole.len() / 2, whole.len() - 30, whole.len() - 1];
    let cut = cuts.map(|it| whole[..it].to_vec());
    let changed = [whole.len() / 4, whole.len() / 2, whole.len() - 12].map(|at| {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x10;
        bytes
    });
    for (number, bytes) in cut.into_iter().chain(changed).enumerate() {
        fs::write(&broken, bytes).unwrap();
        let said = other.run(&["restore", broken.to_str().unwrap()]).failed();
        let known = ["truncated", "damaged", "not a backup", "empty"];
        assert!(known.iter().any(|it| said.contains(it)), "{number}: {said}");
    }
    assert!(!other.data_dir().exists());
}

#[tokio::test]
async fn a_backup_does_not_replace_a_file_unless_told_to() {
    let (it, file) = backed_up().await;
    let file = file.to_str().unwrap();
    let said = it.run(&["backup", file]).failed();
    assert!(said.ends_with("replace it with --force"), "{said}");
    it.run(&["backup", file, "--force"]).succeeded();
    let folder = it.run(&["backup", it.path("").to_str().unwrap(), "--force"]).failed();
    assert!(folder.ends_with("is not a regular file; choose another name"), "{folder}");
    let nowhere = it.run(&["backup", "/nowhere/at/all"]).failed();
    assert!(nowhere.starts_with("cannot write /nowhere/at/all"), "{nowhere}");
}

#[tokio::test]
async fn a_backup_is_taken_while_the_server_goes_on() {
    let it = Installation::new().await;
    let demo = it.start(&["demo"]);
    it.run(&["backup", it.path("keel.backup").to_str().unwrap()]).succeeded();
    assert_eq!(demo.get("/v1/me", Some(demo.fact("api_key"))).0, 200);
    let said = it.run(&["restore", it.path("keel.backup").to_str().unwrap()]).failed();
    let refusal =
        if it.is_on_postgres() { "this database already has people" } else { "another evenkeel" };
    assert!(said.starts_with(refusal), "{said}");
    demo.stop();
}

#[tokio::test]
async fn a_restore_touches_no_database_that_is_in_use_and_no_key_with_it() {
    let (_it, file) = backed_up().await;
    let other = Installation::new().await;
    other.run(&["user", "create", "kim@example.com"]).succeeded();
    let key = fs::read(other.data_dir().join("installation.key")).unwrap();
    let said = other.run(&["restore", file.to_str().unwrap()]).failed();
    assert!(said.starts_with("this database already has people in it"), "{said}");
    assert_eq!(fs::read(other.data_dir().join("installation.key")).unwrap(), key);
    other.run(&["doctor"]).succeeded();

    // Without anyone in it, an installation gives way, and takes over the key.
    other.run(&["user", "delete", "kim@example.com", "--yes"]).succeeded();
    other.run(&["restore", file.to_str().unwrap()]).succeeded();
    other.run(&["doctor"]).succeeded();
    assert_eq!(fs::read(other.data_dir().join("installation.key.old")).unwrap(), key);
}

#[tokio::test]
async fn a_backup_of_a_newer_version_is_refused() {
    let (it, _) = backed_up().await;
    make_newer(&it).await;
    let file = it.path("newer.backup");
    it.run(&["backup", file.to_str().unwrap()]).succeeded();
    let said = Installation::new().await.run(&["restore", file.to_str().unwrap()]).failed();
    assert!(said.starts_with("the backup was made by a newer Evenkeel"), "{said}");
}
