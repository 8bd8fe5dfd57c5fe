//! Descriptors of other people's statements, with the category their owners gave them. They are no part of the project;
//! where the folder with them lies beside it, they are measured too.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use base::draft::AccountKind;

use super::descriptors::{Context, classify};
use super::share::Share;

/// The share of right answers, of answers, and of right ones among them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Score {
    pub(super) right: Share,
    pub(super) covered: Share,
    pub(super) precise: Share,
}

impl Score {
    fn count(&mut self, found: Option<&str>, truth: &str) {
        let is_right = found == Some(truth);
        self.right.count(is_right);
        self.covered.count(found.is_some());
        if found.is_some() {
            self.precise.count(is_right);
        }
    }
}

/// The file beside the project, if it is there.
pub(super) fn file() -> Option<PathBuf> {
    let file =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/realdata/descriptors.csv");
    file.is_file().then_some(file)
}

/// The score of each set of the file, and of all. Its columns: set, text, amount, direction, primary, detailed.
pub(super) fn score(text: &str) -> anyhow::Result<BTreeMap<String, Score>> {
    let mut scores: BTreeMap<String, Score> = BTreeMap::new();
    for line in text.lines().skip(1).filter(|it| !it.is_empty()) {
        let cells = cells(line);
        let [set, text, _, direction, truth, ..] = &cells[..] else {
            anyhow::bail!("a row of real descriptors has too few columns");
        };
        // One set gives no direction. Its income comes in.
        let inflow = direction == "credit" || direction.is_empty() && truth == "INCOME";
        let context = Context { inflow, kind: AccountKind::Depository, subtype: None };
        let found = classify(text, context, 0).category.map(|it| it.primary());
        for name in [set.as_str(), "all"] {
            scores.entry(name.to_owned()).or_default().count(found, truth);
        }
    }
    Ok(scores)
}

/// The scores of the file, as lines.
pub(super) fn report(file: &Path) -> anyhow::Result<()> {
    let text = std::fs::read_to_string(file).context("reading the real descriptors")?;
    println!("\n== real descriptors: right at tier 1, covered, right where covered");
    for (set, score) in score(&text)? {
        println!("  {set:<26} {:<37} {:<37} {}", score.right, score.covered, score.precise);
    }
    Ok(())
}

/// The cells of a line of CSV, without line breaks in quotes.
fn cells(line: &str) -> Vec<String> {
    let (mut cells, mut is_quoted) = (vec![String::new()], false);
    for character in line.chars() {
        match character {
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => cells.push(String::new()),
            _ => cells.last_mut().into_iter().for_each(|it| it.push(character)),
        }
    }
    cells
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_scored_by_set() {
        let text = "set,text,amount,direction,primary,detailed\n\
                    one,KROGER #12,\"1,200.00\",debit,FOOD_AND_DRINK,\n\
                    one,\"KROGER, 14\",3,debit,MEDICAL,\n\
                    two,QXB,3,debit,TRAVEL,\n";
        let scores = score(text).unwrap();
        let share = |hits, of| Share { hits, of };
        assert_eq!(
            scores["one"],
            Score { right: share(1, 2), covered: share(2, 2), precise: share(1, 2) }
        );
        assert_eq!(
            scores["all"],
            Score { right: share(1, 3), covered: share(2, 3), precise: share(1, 2) }
        );
    }
}
