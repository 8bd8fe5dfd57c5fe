//! Importing a real file twice equals importing it once, and undo restores what was there before: of the second import
//! alone, of the first alone, and of both.

use service::ingest::imports;
use testkit::World;

use super::super::undo::{differences, stored_data};
use super::{STATEMENTS, TABLES, Target, commit, real_files, root, step, stored};

async fn assert_twice_is_once_and_undo_restores(kinds: &[&str], files_min: usize) {
    let Some(root) = root() else { return };
    let mut world = World::new().await;
    let (step, mut checked) = (step(&world), 0);
    for path in kinds.iter().flat_map(|it| real_files(&root, it)).step_by(step) {
        let (bytes, name) = (std::fs::read(&path).unwrap(), path.display().to_string());
        if checked > 0 {
            world = World::new().await;
        }
        let robin = world.someone().await;
        let empty = stored_data(&world).await;
        let Some(once) = commit(&world, &robin, &bytes, Target::New).await else { continue };
        checked += 1;
        let (seen, before) = (stored::accounts_of(&world, &robin).await, stored_data(&world).await);
        let undo = async |import| {
            imports::undo(&world.app, &robin.caller, import).await.unwrap();
            world.advance_seconds(60);
        };
        let twice = commit(&world, &robin, &bytes, Target::Accounts(&once.accounts)).await.unwrap();
        assert_eq!((twice.summary.new, twice.summary.changed), (0, 0), "{name}");
        assert_eq!(stored::accounts_of(&world, &robin).await, seen, "{name}");
        undo(twice.import).await;
        let left = differences(&stored_data(&world).await, &before);
        assert_eq!(left, [""; 0], "{name}: the second alone");
        let third = commit(&world, &robin, &bytes, Target::Accounts(&once.accounts)).await.unwrap();
        undo(once.import).await;
        let rows = crate::listed::all(&world.app, &robin.caller, &Default::default()).await;
        assert_eq!(rows.len(), third.summary.new, "{name}: the first alone");
        undo(third.import).await;
        let left = differences(&stored_data(&world).await, &empty);
        assert_eq!(left, [""; 0], "{name}: both");
    }
    assert!(checked >= files_min / step, "only {checked} files were checked");
}

#[tokio::test]
async fn real_tables_twice_equal_once_and_undo_restores() {
    assert_twice_is_once_and_undo_restores(&TABLES, 70).await;
}

#[tokio::test]
async fn real_statements_twice_equal_once_and_undo_restores() {
    assert_twice_is_once_and_undo_restores(&STATEMENTS, 160).await;
}
