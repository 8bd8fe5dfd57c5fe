//! The order of two overlapping halves of a real file does not matter.

use base::{Currency, Date};
use service::ingest::imports::files::{self, ParseOptions, ReadingLimits};
use testkit::World;

use super::{Answers, Target, real_files, root, stage, step, stored};

/// A file as its rows, and the text before and after them.
struct Rows<'a> {
    before: &'a str,
    rows: Vec<&'a str>,
    after: &'a str,
}

impl Rows<'_> {
    /// The first and the last two thirds of the rows.
    fn halves(&self) -> [String; 2] {
        let third = self.rows.len() / 3;
        let half = |rows: &[&str]| [&[self.before][..], rows, &[self.after][..]].concat().concat();
        [half(&self.rows[..2 * third.max(1)]), half(&self.rows[third..])]
    }
}

/// The blocks of an OFX file, from one tag to the next, of its only statement.
fn ofx(text: &str) -> Option<Rows<'_>> {
    let begin = text.find("<STMTTRN>")?;
    let end = text.find("</BANKTRANLIST>")?;
    let (list, is_only) = (text.get(begin..end)?, text.matches("<BANKTRANLIST>").count() == 1);
    let mut starts: Vec<usize> = list.match_indices("<STMTTRN>").map(|it| it.0).collect();
    starts.push(list.len());
    let rows = starts.windows(2).map(|it| &list[it[0]..it[1]]).collect();
    is_only.then_some(Rows { before: &text[..begin], rows, after: &text[end..] })
}

/// The records of a QIF file with one list, each up to its line with a caret.
fn qif(text: &str) -> Option<Rows<'_>> {
    let (header, _) = text.split_once('\n')?;
    let (before, list) = text.split_at(header.len() + 1);
    let is_only = header.starts_with("!Type:") && !list.contains('!');
    let rows: Vec<&str> = list.split_inclusive("^\n").filter(|it| !it.trim().is_empty()).collect();
    is_only.then_some(Rows { before, rows, after: "" })
}

/// The lines of a CSV file with a line for each of so many rows, and at most one line before them.
fn csv(text: &str, count: usize) -> Option<Rows<'_>> {
    let lines: Vec<&str> = text.split_inclusive('\n').filter(|it| !it.trim().is_empty()).collect();
    let headers = lines.len().checked_sub(count).filter(|it| *it < 2)?;
    let before = if headers == 1 { lines[0] } else { "" };
    Some(Rows { before, rows: lines[headers..].to_vec(), after: "" })
}

fn split<'a>(kind: &str, text: &'a str) -> Option<Rows<'a>> {
    let options = ParseOptions {
        today: Date::constant(2026, 11, 17),
        chosen_currency: None,
        currency: Currency::USD,
        dates: None,
        charges: None,
        limits: ReadingLimits::DEFAULT,
    };
    let contents = files::read(text.as_bytes(), &options).ok()?;
    let [account] = &contents.accounts[..] else { return None };
    let count = account.draft.transactions.len();
    let rows = match kind {
        "csv" => csv(text, count)?,
        "qif" => qif(text)?,
        _ => ofx(text)?,
    };
    (count >= 3 && rows.rows.len() == count).then_some(rows)
}

/// Imports the two halves with the answers for the whole file. None if one of them is refused, because a statement that
/// lacks rows does not add up.
async fn in_order(
    world: &World,
    answers: &Answers,
    [one, other]: [&str; 2],
) -> Option<Vec<String>> {
    let robin = world.someone().await;
    let (app, caller) = (&world.app, &robin.caller);
    let first = stage(world, &robin, one.as_bytes(), (Some(answers), Target::New)).await?;
    let first = files::commit(app, caller, first).await.ok()?;
    world.advance_seconds(60);
    let target = Target::Accounts(&first.accounts);
    let second = stage(world, &robin, other.as_bytes(), (Some(answers), target)).await?;
    files::commit(app, caller, second).await.ok()?;
    Some(stored::accounts_of(world, &robin).await)
}

#[tokio::test]
async fn the_order_of_two_halves_of_a_real_file_does_not_matter() {
    let Some(root) = root() else { return };
    let world = World::new().await;
    let (step, mut compared, mut differing) = (step(&world), 0, Vec::new());
    for kind in ["csv", "qif", "ofx", "qfx"] {
        for path in real_files(&root, kind).into_iter().step_by(step) {
            let Ok(text) = std::fs::read_to_string(&path) else { continue };
            let Some(rows) = split(kind, &text) else { continue };
            let robin = world.someone().await;
            let whole =
                files::stage(&world.app, &robin.caller, "whole", text.clone().into_bytes()).await;
            let Ok(whole) = whole else { continue };
            let preview = files::preview(&world.app, &robin.caller, whole).await.unwrap();
            let (answers, [one, other]) = (Answers::of(&preview), rows.halves());
            let forward = in_order(&world, &answers, [&one, &other]).await;
            let backward = in_order(&world, &answers, [&other, &one]).await;
            compared += usize::from(forward.is_some() && backward.is_some());
            if let (Some(forward), Some(backward)) = (forward, backward)
                && forward != backward
            {
                differing.push(format!("{}\n{forward:#?}\n{backward:#?}", path.display()));
            }
        }
    }
    assert!(differing.is_empty(), "{} of {compared}\n{}", differing.len(), differing.join("\n"));
    assert!(compared >= PAIRS_MIN / step, "only {compared} files were compared");
}

const PAIRS_MIN: usize = 40;
