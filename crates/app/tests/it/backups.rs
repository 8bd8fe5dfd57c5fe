//! Backup and restore: a restore brings back everything, on either engine, or changes nothing.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use db::{Db, Value};
use flate2::read::MultiGzDecoder;

use crate::program::{Installation, launch, outcome, program, wait_until};
use crate::serving::make_newer;

/// Every row of every table, as sorted text. A restore begins a new epoch of the change feed, so that is left out.
async fn all_rows(db: &Db) -> BTreeMap<String, Vec<String>> {
    let tables = db.tables().await.unwrap();
    let names: Vec<String> = tables.iter().map(|it| it.name.clone()).collect();
    let rows = Arc::new(Mutex::new(Vec::new()));
    let seen = rows.clone();
    let columns: Vec<Vec<String>> = tables
        .iter()
        .map(|it| it.columns.iter().map(|column| column.name.clone()).collect())
        .collect();
    let visit = move |table: usize, row: &db::Row<'_>| {
        let lasts = |column: &usize| columns[table][*column] != "transactions_epoch";
        let kept = (0..row.columns()).filter(lasts);
        let values: Vec<Value<'_>> = kept.map(|it| row.value(it).unwrap()).collect();
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

/// The same without sessions and tokens, which a restore ends, and without the audit trail, which records the restore.
async fn all_rows_but_access(db: &Db) -> BTreeMap<String, Vec<String>> {
    let mut found = all_rows(db).await;
    found.retain(|name, _| {
        !["sessions", "oauth_tokens", "audit", "anchors"].contains(&name.as_str())
    });
    found
}

/// An installation with demo data, and its backup.
async fn installation_with_backup() -> (Installation, PathBuf) {
    let it = Installation::with_demo().await;
    let file = it.path("keel.backup");
    let output = it.run(&["backup", file.to_str().unwrap()]).succeeded();
    assert!(output.contains(" rows in "), "{output}");
    (it, file)
}

#[tokio::test]
async fn a_backup_restores_every_row_into_the_same_engine_and_the_other() {
    let (it, file) = installation_with_backup().await;
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    let file = file.to_str().unwrap();
    let before = all_rows_but_access(&it.db().await).await;
    assert!(before["transactions"].len() > 1_000 && before["users"].len() == 1);

    let same = Installation::empty().await;
    let output = same.run(&["restore", file]).succeeded();
    assert!(output.contains("Everyone is signed out"), "{output}");
    assert!(
        output.contains("These API keys are active") && output.contains("evenkeel key revoke"),
        "{output}"
    );
    assert!(
        output.contains("Demo") || output.contains("demo"),
        "the output names the key: {output}"
    );
    assert_eq!(all_rows_but_access(&same.db().await).await, before);
    same.run(&["doctor"]).succeeded();
    same.run(&["audit", "verify"]).succeeded();
    // The backup contains the installation key, so the restored installation works as before.
    let server = same.start(&["serve"]);
    assert_eq!(server.get("/readyz", None).0, 200);
    server.stop();

    // On PostgreSQL, this restores into SQLite.
    let folder = tempfile::tempdir().unwrap();
    let data_dir = folder.path().join("data");
    let mut command = program(folder.path());
    outcome(command.args(["restore", file, "--data-dir"]).arg(&data_dir)).succeeded();
    let db = Db::open(&db::Target::sqlite(&data_dir.join("evenkeel.db"))).await.unwrap();
    assert_eq!(all_rows_but_access(&db).await, before);
}

/// The file with a bit flipped in this byte or a later one. A bit that leaves the unpacked content as it was, like one of
/// a reference to one of two equal texts, does no harm and is passed over.
fn with_changed_content(whole: &[u8], at: usize) -> Vec<u8> {
    let flipped = (at..whole.len()).map(|at| {
        let mut bytes = whole.to_vec();
        bytes[at] ^= 0x10;
        bytes
    });
    let content = unpacked(whole);
    flipped.into_iter().find(|it| unpacked(it) != content).unwrap()
}

/// The unpacked content of a gzip file as far as it can be read, and whether the file is complete.
fn unpacked(bytes: &[u8]) -> (Vec<u8>, bool) {
    let mut content = Vec::new();
    let is_complete = MultiGzDecoder::new(bytes).read_to_end(&mut content).is_ok();
    (content, is_complete)
}

#[tokio::test]
async fn a_truncated_or_changed_backup_is_refused_before_anything_is_written() {
    let (_it, file) = installation_with_backup().await;
    let whole = fs::read(&file).unwrap();
    let other = Installation::new().await;
    let broken = other.path("broken.backup");
    let lengths = [0, 1, 10, whole.len() / 3, whole.len() / 2, whole.len() - 30, whole.len() - 1];
    let truncated = lengths.map(|it| whole[..it].to_vec());
    let changed = [whole.len() / 4, whole.len() / 2, whole.len() - 12]
        .map(|at| with_changed_content(&whole, at));
    for (number, bytes) in truncated.into_iter().chain(changed).enumerate() {
        fs::write(&broken, bytes).unwrap();
        let error = other.run(&["restore", broken.to_str().unwrap()]).failed();
        let known = ["truncated", "damaged", "not a backup", "empty"];
        assert!(known.iter().any(|it| error.contains(it)), "{number}: {error}");
    }
    assert!(!other.data_dir().exists());
}

#[tokio::test]
async fn a_backup_replaces_an_existing_file_only_with_force() {
    let (it, file) = installation_with_backup().await;
    let file = file.to_str().unwrap();
    let error = it.run(&["backup", file]).failed();
    assert!(error.ends_with("replace it with --force"), "{error}");
    it.run(&["backup", file, "--force"]).succeeded();
    let folder = it.run(&["backup", it.path("").to_str().unwrap(), "--force"]).failed();
    assert!(folder.ends_with("is not a regular file; choose another name"), "{folder}");
    let nowhere = it.run(&["backup", "/nowhere/at/all"]).failed();
    assert!(nowhere.starts_with("cannot write /nowhere/at/all"), "{nowhere}");
}

#[tokio::test]
async fn a_backup_can_be_taken_while_the_server_runs() {
    let it = Installation::new().await;
    let demo = it.start(&["demo"]);
    it.run(&["backup", it.path("keel.backup").to_str().unwrap()]).succeeded();
    assert_eq!(demo.get("/v1/me", Some(demo.fact("api_key"))).0, 200);
    let error = it.run(&["restore", it.path("keel.backup").to_str().unwrap()]).failed();
    let refusal =
        if it.is_on_postgres() { "this database already has people" } else { "another evenkeel" };
    assert!(error.starts_with(refusal), "{error}");
    demo.stop();
}

#[tokio::test]
async fn a_restore_into_a_database_with_people_changes_neither_database_nor_key() {
    let (_it, file) = installation_with_backup().await;
    let other = Installation::new().await;
    other.run(&["user", "create", "kim@example.com"]).succeeded();
    let key = fs::read(other.data_dir().join("installation.key")).unwrap();
    let error = other.run(&["restore", file.to_str().unwrap()]).failed();
    assert!(error.starts_with("this database already has people in it"), "{error}");
    assert_eq!(fs::read(other.data_dir().join("installation.key")).unwrap(), key);
    other.run(&["doctor"]).succeeded();

    // A database without people is replaced, and its key is kept as `installation.key.old`.
    other.run(&["user", "delete", "kim@example.com", "--yes"]).succeeded();
    other.run(&["restore", file.to_str().unwrap()]).succeeded();
    other.run(&["doctor"]).succeeded();
    assert_eq!(fs::read(other.data_dir().join("installation.key.old")).unwrap(), key);
}

#[tokio::test]
async fn a_backup_of_a_newer_version_is_refused() {
    let (it, _) = installation_with_backup().await;
    make_newer(&it).await;
    let file = it.path("newer.backup");
    it.run(&["backup", file.to_str().unwrap()]).succeeded();
    let error = Installation::new().await.run(&["restore", file.to_str().unwrap()]).failed();
    assert!(error.starts_with("the backup was made by a newer Evenkeel"), "{error}");
}

#[tokio::test]
async fn a_server_writes_encrypted_backups_that_a_drill_finds_good() {
    let it = Installation::with_demo().await;
    let folder = it.path("disk");
    fs::create_dir(&folder).unwrap();
    let secret = it.path("passphrase");
    fs::write(&secret, "correct horse battery\n").unwrap();
    let settings = [
        ("EVENKEEL_BACKUPS__FOLDER", folder.to_str().unwrap()),
        ("EVENKEEL_BACKUPS__PASSPHRASE_FILE", secret.to_str().unwrap()),
    ];
    let mut command = it.command(&["serve", "--listen", "127.0.0.1:0"]);
    command.envs(settings);
    let mut server = launch(command, &it.path(""));
    server.wait_until_ready();
    let backups = || {
        let entries = fs::read_dir(&folder).unwrap().map(|it| it.unwrap().path());
        entries.filter(|it| it.extension().is_some_and(|it| it == "age")).collect::<Vec<_>>()
    };
    wait_until("a backup is there", || !backups().is_empty());
    server.stop();
    let file = backups().remove(0);
    let file = file.to_str().unwrap();

    let error = it.run(&["restore", file, "--drill"]).failed();
    assert!(error.contains("the backup is encrypted; set backups.passphrase"), "{error}");
    let mut wrong = it.command(&["restore", file, "--drill"]);
    let wrong = outcome(wrong.env("EVENKEEL_BACKUPS__PASSPHRASE", "another horse battery"));
    assert!(wrong.failed().contains("another passphrase"));
    let mut short = it.command(&["restore", file, "--drill"]);
    let short = outcome(short.env("EVENKEEL_BACKUPS__PASSPHRASE", "horse"));
    assert!(short.failed().contains("at least 12 characters"));
    let drilled = outcome(it.command(&["restore", file, "--drill"]).envs(settings)).succeeded();
    assert!(drilled.contains(" is good: ") && drilled.contains("no damage"), "{drilled}");
    let left: Vec<_> =
        fs::read_dir(it.path("")).unwrap().map(|it| it.unwrap().file_name()).collect();
    assert!(!left.iter().any(|it| it.to_string_lossy().contains("drill")), "{left:?}");

    let other = Installation::new().await;
    outcome(other.command(&["restore", file]).envs(settings)).succeeded();
    other.run(&["doctor"]).succeeded();
    // The command encrypts with the same passphrase.
    let path = it.path("by-hand.backup");
    let written = outcome(it.command(&["backup", path.to_str().unwrap()]).envs(settings));
    assert!(written.succeeded().contains("encrypted with backups.passphrase"));
    assert!(fs::read(&path).unwrap().starts_with(b"age-encryption.org/v1"));
}

#[tokio::test]
async fn a_backup_for_a_public_key_is_restored_with_its_secret_key() {
    let public = "age1sg3lyq9xhm9whlqrz0h8qww6gaaaqxglyyeg4c5jvjyqxdrnkq9skcft66";
    let secret = "AGE-SECRET-KEY-1ESF7UAVLARZQ4735X8S6TG7KNM4RJJZYF9PSD5ZP8JDK0UKQ69SQDMV3UD";
    let it = Installation::new().await;
    it.run(&["user", "create", "robin@example.com"]).succeeded();
    let path = it.path("for-a-key.backup");
    let file = path.to_str().unwrap();
    let write = |settings: &[(&str, &str)]| {
        outcome(it.command(&["backup", file]).envs(settings.iter().copied()))
    };
    let recipients = ("EVENKEEL_BACKUPS__RECIPIENTS", public);
    let both = [recipients, ("EVENKEEL_BACKUPS__PASSPHRASE", "correct horse battery")];
    assert!(write(&both).failed().contains("set only one of them"));
    let refused = write(&[("EVENKEEL_BACKUPS__RECIPIENTS", "age1x")]).failed();
    assert!(refused.contains("public keys that `age-keygen` prints"), "{refused}");
    assert!(write(&[recipients]).succeeded().contains("encrypted for backups.recipients"));

    let error = it.run(&["restore", file, "--drill"]).failed();
    assert!(error.contains("set backups.identity"), "{error}");
    let keys = it.path("keys.txt");
    fs::write(&keys, format!("# public key: {public}\n{secret}\n")).unwrap();
    let other = Installation::new().await;
    let mut restore = other.command(&["restore", file]);
    outcome(restore.env("EVENKEEL_BACKUPS__IDENTITY_FILE", &keys)).succeeded();
    assert_eq!(other.run(&["user", "list", "--json"]).json()[0]["email"], "robin@example.com");
}
