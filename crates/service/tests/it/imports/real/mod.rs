//! The laws of imports over real files of others, where they are at hand (`../shared/realdata`): twice equals once, undo
//! restores, and the order of two files of one account does not matter unless they contradict each other. The files are
//! not part of the project.

mod halves;
mod order;
mod stored;
mod undone;

use std::path::{Path, PathBuf};

use base::draft::AccountKind;
use base::{AccountId, FileId};
use db::Engine;
use service::ingest::imports::files::{
    self, AccountChoice, ChargeSign, Choices, CommitOutcome, DateOrder, Destination,
    DestinationChoice, FileQuestion, Preview,
};
use testkit::{Person, World};

/// The folders of files, by format.
const STATEMENTS: [&str; 5] = ["ofx", "qfx", "qif", "mt940", "camt053"];
const TABLES: [&str; 2] = ["csv", "csv-expected"];

/// The folder of the real files. None if it is not there, which the output of the test says.
fn root() -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/realdata/statements");
    if root.is_dir() {
        return Some(root);
    }
    eprintln!("SKIPPED: there are no real files in {}", root.display());
    None
}

/// The files of one kind, by the name of its folder.
fn real_files(root: &Path, kind: &str) -> Vec<PathBuf> {
    let mut folders = vec![root.join(kind)];
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

/// All files on SQLite, and every fifth on PostgreSQL, where each takes four times as long: the files differ in how they
/// are read, which no database does.
fn step(world: &World) -> usize {
    match world.app.db.engine() {
        Engine::Sqlite => 1,
        Engine::Postgres => 5,
    }
}

/// The answers to the questions about a file, as it was read.
#[derive(Default)]
struct Answers {
    dates: Option<DateOrder>,
    charges: Option<ChargeSign>,
    owed: Vec<usize>,
    kinds: Vec<(AccountKind, Option<String>)>,
}

impl Answers {
    fn of(preview: &Preview) -> Answers {
        let kinds = preview.accounts.iter().map(|it| (it.kind, it.subtype.clone())).collect();
        let mut answers = Answers { kinds, ..Answers::default() };
        for doubt in &preview.doubts {
            match doubt {
                FileQuestion::Dates { read_as } => answers.dates = Some(*read_as),
                FileQuestion::ChargeSign { read_as } => answers.charges = Some(*read_as),
                FileQuestion::CardBalance { account } => answers.owed.push(*account),
                FileQuestion::AccountKind { .. } => {}
            }
        }
        answers
    }

    fn choices(&self, preview: &Preview, target: Target<'_>) -> Choices {
        let mut choices =
            Choices { dates: self.dates, charges: self.charges, ..Choices::default() };
        for (index, account) in preview.accounts.iter().enumerate() {
            let destination = match (target, account.destination) {
                (Target::Accounts(ids), _) if index < ids.len() => {
                    DestinationChoice::Existing(ids[index])
                }
                (_, Destination::Existing(id)) => DestinationChoice::Existing(id),
                _ => DestinationChoice::New,
            };
            let (kind, subtype) = self.kinds.get(index).cloned().unzip();
            let choice = AccountChoice {
                destination: Some(destination),
                kind,
                subtype: subtype.flatten(),
                owed: self.owed.contains(&index).then_some(true),
                ..AccountChoice::default()
            };
            choices.accounts.insert(index, choice);
        }
        choices
    }
}

/// The accounts that a file goes into, unless it identifies them.
#[derive(Clone, Copy)]
enum Target<'a> {
    New,
    Accounts(&'a [AccountId]),
}

/// Stages a file and answers all questions. None if it is refused or has no rows.
async fn stage(
    world: &World,
    robin: &Person,
    bytes: &[u8],
    (answers, target): (Option<&Answers>, Target<'_>),
) -> Option<FileId> {
    let (app, caller) = (&world.app, &robin.caller);
    let id = files::stage(app, caller, "real", bytes.to_vec()).await.ok()?;
    let preview = files::preview(app, caller, id).await.unwrap();
    let own = Answers::of(&preview);
    let choices = answers.unwrap_or(&own).choices(&preview, target);
    files::choose(app, caller, id, choices).await.unwrap();
    let has_rows = preview.accounts.iter().any(|it| it.tally.new + it.tally.seen > 0);
    has_rows.then_some(id)
}

async fn commit(
    world: &World,
    robin: &Person,
    bytes: &[u8],
    target: Target<'_>,
) -> Option<CommitOutcome> {
    let id = stage(world, robin, bytes, (None, target)).await?;
    let committed = files::commit(&world.app, &robin.caller, id).await.unwrap();
    world.advance_seconds(60);
    Some(committed)
}
