//! The laws of imports over real files of others, where they are at hand (`../shared/realdata`): twice equals once, undo
//! restores, and the order of two files of one account does not matter unless they contradict each other. The files are
//! not part of the project.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use base::{Currency, Date, FileId};
use db::Engine;
use service::ingest::imports;
use service::ingest::imports::files::{
    self, AccountChoice, Choices, CommitOutcome, Destination, DestinationChoice, FileQuestion,
    ParseOptions, ReadingLimits,
};
use testkit::{Person, World};

/// The files of one kind, by the name of its folder.
fn real_files(kind: &str) -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/realdata");
    let mut folders = vec![root.join("statements").join(kind)];
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() { folders.push(path) } else { files.push(path) }
        }
    }
    files.sort();
    files
}

/// Stages a file and answers all questions as it was read, with new accounts or those that are suggested.
async fn stage(world: &World, robin: &Person, bytes: &[u8], is_first: bool) -> Option<FileId> {
    let (app, caller) = (&world.app, &robin.caller);
    let id = files::stage(app, caller, "real", bytes.to_vec()).await.ok()?;
    let preview = files::preview(app, caller, id).await.unwrap();
    let mut choices = Choices::default();
    for (index, account) in preview.accounts.iter().enumerate() {
        let known = account.suggested.or(account.candidates.first().map(|it| it.0));
        let destination = match (account.destination, known) {
            (Destination::Existing(id), _) => DestinationChoice::Existing(id),
            (_, Some(id)) if !is_first => DestinationChoice::Existing(id),
            _ => DestinationChoice::New,
        };
        let choice = AccountChoice {
            destination: Some(destination),
            kind: Some(account.kind),
            subtype: account.subtype.clone(),
            ..Default::default()
        };
        choices.accounts.insert(index, choice);
    }
    for doubt in &preview.doubts {
        match doubt {
            FileQuestion::Dates { read_as } => choices.dates = Some(*read_as),
            FileQuestion::ChargeSign { read_as } => choices.charges = Some(*read_as),
            FileQuestion::CardBalance { account } => {
                choices.accounts.entry(*account).or_default().owed = Some(true);
            }
            FileQuestion::AccountKind { .. } => {}
        }
    }
    files::choose(app, caller, id, choices).await.unwrap();
    let has_rows = preview.accounts.iter().any(|it| it.tally.new + it.tally.seen > 0);
    has_rows.then_some(id)
}

async fn commit(
    world: &World,
    robin: &Person,
    bytes: &[u8],
    is_first: bool,
) -> Option<CommitOutcome> {
    let id = stage(world, robin, bytes, is_first).await?;
    Some(files::commit(&world.app, &robin.caller, id).await.unwrap())
}

async fn rows(world: &World, robin: &Person) -> Vec<String> {
    let listed = crate::listed::all(&world.app, &robin.caller, &Default::default()).await;
    let mut rows: Vec<String> =
        listed.iter().map(|it| format!("{} {:?}", it.description, it.category)).collect();
    rows.sort();
    rows
}

/// The rows with their days and amounts, in an order that does not depend on ids.
async fn dated_rows(world: &World, robin: &Person) -> Vec<String> {
    let listed = crate::listed::all(&world.app, &robin.caller, &Default::default()).await;
    let mut rows: Vec<String> = listed
        .iter()
        .map(|it| format!("{} {} {} {:?}", it.posted_on, it.minor, it.description, it.category))
        .collect();
    rows.sort();
    rows
}

/// Imports two files. None if they share no account by its full identity: which account it is would be for the person.
async fn in_order(world: &World, first: &[u8], second: &[u8]) -> Option<Vec<String>> {
    let robin = world.someone().await;
    commit(world, &robin, first, true).await?;
    let id = stage(world, &robin, second, true).await?;
    let preview = files::preview(&world.app, &robin.caller, id).await.unwrap();
    let is_same = |it: &files::AccountPreview| matches!(it.destination, Destination::Existing(_));
    preview.accounts.iter().any(is_same).then_some(())?;
    files::commit(&world.app, &robin.caller, id).await.unwrap();
    Some(dated_rows(world, &robin).await)
}

/// The amounts and days of a file's rows, by the account's number and the bank's id of the row.
fn identified(bytes: &[u8]) -> BTreeMap<(String, String), (Date, i64)> {
    let options = ParseOptions {
        today: Date::constant(2026, 11, 17),
        chosen_currency: None,
        currency: Currency::USD,
        dates: None,
        charges: None,
        limits: ReadingLimits::DEFAULT,
    };
    let contents = files::read(bytes, &options).ok();
    let accounts = contents.into_iter().flat_map(|it| it.accounts).map(|it| it.draft);
    accounts
        .flat_map(|account| {
            let number = account.external_id;
            account.transactions.into_iter().filter_map(move |row| {
                Some(((number.clone(), row.external_id?), (row.posted_on, row.amount.minor())))
            })
        })
        .collect()
}

/// Whether two files give one row of one account by the bank's id, and disagree about it. The newer import then corrects
/// the older one, as banks do, so the order matters. Such files here were made by hand from one another.
fn is_contradictory(one: &[u8], other: &[u8]) -> bool {
    let known = identified(one);
    identified(other).iter().any(|(id, row)| known.get(id).is_some_and(|it| it != row))
}

async fn assert_order_does_not_matter(kind: &str) {
    let world = World::new().await;
    let mut differing = Vec::new();
    for pair in real_files(kind).windows(2).step_by(step(&world)) {
        let [one, other] = pair else { continue };
        if one.parent() != other.parent() {
            continue;
        }
        let (a, b) = (std::fs::read(one).unwrap(), std::fs::read(other).unwrap());
        if is_contradictory(&a, &b) {
            continue;
        }
        let Some(forward) = in_order(&world, &a, &b).await else { continue };
        let backward = in_order(&world, &b, &a).await;
        if backward.as_ref() != Some(&forward) {
            differing.push(format!(
                "{} {}\n{forward:#?}\n{backward:#?}",
                one.display(),
                other.display()
            ));
        }
    }
    assert!(differing.is_empty(), "{}", differing.join("\n"));
}

#[tokio::test]
async fn the_order_of_two_real_files_does_not_matter() {
    for kind in ["ofx", "qfx", "qif", "mt940", "camt053", "csv"] {
        assert_order_does_not_matter(kind).await;
    }
}

/// All files on SQLite, and every fifth on PostgreSQL, where each takes four times as long: the files differ in how they
/// are read, which no database does.
fn step(world: &World) -> usize {
    match world.app.db.engine() {
        Engine::Sqlite => 1,
        Engine::Postgres => 5,
    }
}

async fn assert_twice_is_once_and_undo_restores(kind: &str) {
    let world = World::new().await;
    for path in real_files(kind).into_iter().step_by(step(&world)) {
        let bytes = std::fs::read(&path).unwrap();
        let robin = world.someone().await;
        let Some(once) = commit(&world, &robin, &bytes, true).await else { continue };
        let before = rows(&world, &robin).await;
        let twice = commit(&world, &robin, &bytes, false).await.unwrap();
        let counts = (twice.summary.new, twice.summary.changed);
        assert_eq!((counts, rows(&world, &robin).await), ((0, 0), before), "{}", path.display());
        for import in [twice.import, once.import] {
            imports::undo(&world.app, &robin.caller, import).await.unwrap();
        }
        assert_eq!(rows(&world, &robin).await, Vec::<String>::new(), "{}", path.display());
    }
}

#[tokio::test]
async fn real_tables_twice_equal_once_and_undo_restores() {
    assert_twice_is_once_and_undo_restores("csv").await;
}

#[tokio::test]
async fn real_statements_twice_equal_once_and_undo_restores() {
    for kind in ["ofx", "qfx", "qif", "mt940", "camt053"] {
        assert_twice_is_once_and_undo_restores(kind).await;
    }
}
