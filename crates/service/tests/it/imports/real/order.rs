//! The order of two real files of one account does not matter, unless they contradict each other.

use std::collections::BTreeMap;
use std::path::PathBuf;

use base::{Currency, Date};
use service::ingest::imports::files::{self, Destination, ParseOptions, ReadingLimits};
use testkit::World;

use super::{STATEMENTS, TABLES, Target, commit, real_files, root, stage, step, stored};

/// Imports two files. None if they share no account by its full identity: which account it is would be for the person.
async fn in_order(world: &World, first: &[u8], second: &[u8]) -> Option<Vec<String>> {
    let robin = world.someone().await;
    commit(world, &robin, first, Target::New).await?;
    let id = stage(world, &robin, second, (None, Target::New)).await?;
    let preview = files::preview(&world.app, &robin.caller, id).await.unwrap();
    let is_same = |it: &files::AccountPreview| matches!(it.destination, Destination::Existing(_));
    preview.accounts.iter().any(is_same).then_some(())?;
    files::commit(&world.app, &robin.caller, id).await.unwrap();
    Some(stored::accounts_of(world, &robin).await)
}

/// A file with the amounts and days of its rows, by the account's number and the bank's id of the row.
struct RealFile {
    path: PathBuf,
    bytes: Vec<u8>,
    identified: BTreeMap<(String, String), (Date, i64)>,
    accounts: Vec<String>,
}

impl RealFile {
    fn read(path: PathBuf) -> Option<RealFile> {
        let options = ParseOptions {
            today: Date::constant(2026, 11, 17),
            chosen_currency: None,
            currency: Currency::USD,
            dates: None,
            charges: None,
            limits: ReadingLimits::DEFAULT,
        };
        let bytes = std::fs::read(&path).unwrap();
        let contents = files::read(&bytes, &options).ok()?;
        let (mut identified, mut accounts) = (BTreeMap::new(), Vec::new());
        for account in contents.accounts.into_iter().map(|it| it.draft) {
            for row in account.transactions {
                let Some(id) = row.external_id else { continue };
                let value = (row.posted_on, row.amount.minor());
                identified.insert((account.external_id.clone(), id), value);
            }
            accounts.push(account.external_id);
        }
        Some(RealFile { path, bytes, identified, accounts })
    }

    /// Whether the two give one row of one account by the bank's id, and disagree about it. The newer import then corrects
    /// the older one, as banks do, so the order matters. Such files here were made by hand from one another.
    fn contradicts(&self, other: &RealFile) -> bool {
        let is_other = |(id, row)| self.identified.get(id).is_some_and(|it| it != row);
        other.identified.iter().any(is_other)
    }

    fn shares_account(&self, other: &RealFile) -> bool {
        self.accounts.iter().any(|it| !it.is_empty() && other.accounts.contains(it))
    }
}

/// All pairs of files that name the same account, from whatever folders.
#[tokio::test]
async fn the_order_of_two_real_files_does_not_matter() {
    let Some(root) = root() else { return };
    let world = World::new().await;
    let kinds = STATEMENTS.iter().chain(&TABLES);
    let all = kinds.flat_map(|it| real_files(&root, it));
    let all: Vec<RealFile> = all.filter_map(RealFile::read).collect();
    let mut pairs = Vec::new();
    for (index, one) in all.iter().enumerate() {
        let others = all[index + 1..].iter().filter(|it| one.shares_account(it));
        pairs.extend(others.take(PAIRS_PER_FILE_MAX).map(|other| (one, other)));
    }
    let (step, mut compared, mut differing) = (step(&world), 0, Vec::new());
    for (one, other) in pairs.into_iter().step_by(step) {
        if one.contradicts(other) {
            continue;
        }
        let Some(forward) = in_order(&world, &one.bytes, &other.bytes).await else { continue };
        compared += 1;
        let backward = in_order(&world, &other.bytes, &one.bytes).await;
        if backward.as_ref() != Some(&forward) {
            let (one, other) = (one.path.display(), other.path.display());
            differing.push(format!("{one} {other}\n{forward:#?}\n{backward:#?}"));
        }
    }
    assert!(differing.is_empty(), "{} of {compared}\n{}", differing.len(), differing.join("\n"));
    assert!(compared >= PAIRS_MIN / step, "only {compared} pairs were compared");
}

/// A few invented account numbers are in dozens of files.
const PAIRS_PER_FILE_MAX: usize = 3;
const PAIRS_MIN: usize = 20;
