//! Descriptors of other people's statements, with the category their owners gave them. They are no part of the project;
//! where the folder with them lies beside it, they are measured too.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use base::draft::AccountKind;
use calc::enrich::clean;

use super::descriptors::{Context, classify};
use super::share::Share;

/// The share of right answers, of answers, and of right ones among them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Score {
    pub(super) right: Share,
    pub(super) covered: Share,
    pub(super) precise: Share,
    /// The right answers in each of two halves, which share no merchant.
    pub(super) halves: [Share; 2],
}

impl Score {
    fn count(&mut self, found: Option<&str>, truth: &str, half: usize) {
        let is_right = found == Some(truth);
        self.right.count(is_right);
        self.halves[half].count(is_right);
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
            scores.entry(name.to_owned()).or_default().count(found, truth, half(text));
        }
    }
    Ok(scores)
}

/// The half of a row, 0 or 1, by a hash of its merchant key (FNV-1a): rows of one merchant are in one half.
fn half(text: &str) -> usize {
    let mix = |hash: u32, byte: u8| (hash ^ u32::from(byte)).wrapping_mul(16_777_619);
    let hash = clean(text).key.bytes().fold(2_166_136_261, mix);
    (hash >> 7) as usize % 2
}

/// The scores of the file, as lines.
pub(super) fn report(file: &Path) -> anyhow::Result<()> {
    let text = std::fs::read_to_string(file).context("reading the real descriptors")?;
    println!("\n== real descriptors: right at tier 1, covered, right where covered");
    let scores = score(&text)?;
    for (set, score) in &scores {
        println!("  {set:<26} {:<37} {:<37} {}", score.right, score.covered, score.precise);
    }
    println!(
        "\n== real descriptors: right at tier 1 in each of two halves without a common merchant"
    );
    for (set, Score { halves: [first, second], .. }) in &scores {
        println!("  {set:<26} {first:<37} {second}");
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
        for (set, right, covered, precise) in [
            ("one", share(1, 2), share(2, 2), share(1, 2)),
            ("all", share(1, 3), share(2, 3), share(1, 2)),
        ] {
            let score = scores[set];
            assert_eq!((score.right, score.covered, score.precise), (right, covered, precise));
            let [first, second] = score.halves;
            assert_eq!((first.hits + second.hits, first.of + second.of), (right.hits, right.of));
        }
        assert_eq!(half("KROGER #12"), half("KROGER 14"));
        let texts = (0..100).map(|it| format!("SHOP {}", ('A'..='Z').cycle().nth(it * 7).unwrap()));
        let second = texts.filter(|it| half(it) == 1).count();
        assert!((20..80).contains(&second), "{second}");
    }
}
