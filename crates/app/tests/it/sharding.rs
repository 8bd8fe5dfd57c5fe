//! `evenkeel shard` where there is nothing to shard, and a database that is only partly sharded. `cargo xtask citus` runs
//! tests on a real cluster.

use crate::program::Installation;

#[tokio::test]
async fn shard_refuses_a_database_without_citus_and_changes_nothing() {
    let it = Installation::empty().await;
    let error = it.run(&["shard"]).failed();
    if !it.is_on_postgres() {
        assert!(error.starts_with("only PostgreSQL with the extension Citus"), "{error}");
        assert!(!it.data_dir().exists(), "a refused command created the database");
        return;
    }
    assert!(error.contains("does not have the extension Citus"), "{error}");
    assert_eq!(db::schema_version(&it.db().await).await.unwrap(), None);
    let error = it.run(&["shard", "--check"]).failed();
    assert!(error.contains("does not have the extension Citus"), "{error}");
    let report = it.run(&["shard", "--shards", "0"]);
    assert_eq!(report.code, Some(2), "{}", report.errors);
}

/// As long as foreign keys are missing, a server would leave rows behind that nobody owns.
#[tokio::test]
async fn no_command_uses_a_database_that_is_only_partly_sharded() {
    let it = Installation::empty().await;
    if !it.is_on_postgres() {
        return;
    }
    it.run(&["user", "create", "robin@example.com"]).succeeded();
    let begin = |tx: &mut db::Tx<'_>| {
        tx.execute("create table sharding_foreign_keys (table_name text)", &[])
    };
    it.db().await.write(begin).await.unwrap();
    for command in [&["user", "list"][..], &["migrate"], &["migrate", "--check"], &["serve"]] {
        let error = it.run(command).failed();
        assert!(error.contains("run `evenkeel shard` again"), "{command:?}: {error}");
    }
    let doctor = it.run(&["doctor"]);
    assert!(doctor.output.contains("run `evenkeel shard` again"), "{}", doctor.output);
    assert_eq!(doctor.code, Some(1));
}
