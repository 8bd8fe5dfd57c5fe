//! Scores transfers between own accounts: which rows are rightly flagged, and which are rightly paired.

use std::collections::{BTreeMap, BTreeSet};

use super::case::{Case, Row};
use super::classes::Classes;
use super::product::Answer;
use super::share::Share;

#[derive(Debug, Clone, Default)]
pub(super) struct Score {
    /// True transfers among the rows that are flagged and so left out of income and spending.
    pub(super) flag_precision: Share,
    /// Flagged rows among the legs of transfers with both legs in the data.
    pub(super) flag_recall: Share,
    pub(super) pair_precision: Share,
    pub(super) pair_recall: Share,
    /// The same if the person confirmed every suggestion.
    pub(super) suggested_recall: Share,
    pub(super) wrong: Classes,
    pub(super) missed: Classes,
}

/// The visible facts of a leg. Legs with the same facts are interchangeable, because nothing distinguishes them.
type LegFacts<'a> = (&'a str, base::Date, i64, &'a str);

fn leg_facts(row: &Row) -> LegFacts<'_> {
    (&row.name.0, row.posted_on, row.amount_minor, &row.description)
}

pub(super) fn score(case: &Case, answer: &Answer) -> Score {
    let mut score = Score::default();
    let mut pairs: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    let mut alike: BTreeMap<LegFacts<'_>, BTreeSet<&str>> = BTreeMap::new();
    for (index, row) in case.rows.iter().enumerate() {
        if let Some(pair) = &row.pair {
            pairs.entry(pair).or_default().push(index);
            alike.entry(leg_facts(row)).or_default().insert(pair);
        }
    }
    let mut flagged = BTreeSet::new();
    let (mut paired, mut suggested) = (BTreeSet::new(), BTreeSet::new());
    for it in &answer.transfers {
        let (out, into) = (&case.rows[it.outflow], &case.rows[it.inflow]);
        let of_both = alike.get(&leg_facts(out)).zip(alike.get(&leg_facts(into)));
        let mut of_both = of_both.into_iter().flat_map(|(one, other)| one.intersection(other));
        let right = of_both.find(|it| !suggested.contains(*it)).copied();
        suggested.extend(right);
        if !it.paired {
            continue;
        }
        flagged.extend([it.outflow, it.inflow]);
        score.pair_precision.count(right.is_some());
        paired.extend(right);
        if right.is_none() {
            let kind = |it: &Row| it.transfer.clone().unwrap_or(it.category.detailed().to_owned());
            let class = format!("{} with {}", kind(out), kind(into));
            score.wrong.count(class, || legs_text(out, into));
        }
    }
    for row in &flagged {
        score.flag_precision.count(case.rows[*row].transfer.is_some());
    }
    for (pair, rows) in pairs.iter().filter(|it| it.1.len() == 2) {
        for row in rows {
            score.flag_recall.count(flagged.contains(row));
        }
        score.pair_recall.count(paired.contains(pair));
        score.suggested_recall.count(suggested.contains(pair));
        if !paired.contains(pair) {
            let (one, other) = (&case.rows[rows[0]], &case.rows[rows[1]]);
            let (out, into) = if one.amount_minor < 0 { (one, other) } else { (other, one) };
            let kind = out.transfer.as_deref().unwrap_or_default();
            let class = format!("{kind} [{} / {}]", out.noise, into.noise);
            score.missed.count(class, || legs_text(out, into));
        }
    }
    score
}

impl Score {
    pub(super) fn add(&mut self, other: &Score) {
        self.flag_precision.add(other.flag_precision);
        self.flag_recall.add(other.flag_recall);
        self.pair_precision.add(other.pair_precision);
        self.pair_recall.add(other.pair_recall);
        self.suggested_recall.add(other.suggested_recall);
        self.wrong.add(&other.wrong);
        self.missed.add(&other.missed);
    }
}

fn legs_text(out: &Row, into: &Row) -> String {
    let describe = |it: &Row| {
        format!("{} {:?} {} {}", it.posted_on, it.description, it.amount_minor, it.name.0)
    };
    format!("{} -> {}", describe(out), describe(into))
}
