//! Which rows are rightly said to be moves between own accounts, and which are rightly paired.

use std::collections::{BTreeMap, BTreeSet};

use super::case::{Case, Row};
use super::classes::Classes;
use super::product::Answer;
use super::share::Share;

#[derive(Debug, Clone, Default)]
pub(super) struct Score {
    /// Rows that are left out of earning and spending, of which so many are moves.
    pub(super) flag_precision: Share,
    /// Rows of moves whose both legs are in view.
    pub(super) flag_recall: Share,
    pub(super) pair_precision: Share,
    pub(super) pair_recall: Share,
    /// The same if the person confirmed every suggestion.
    pub(super) suggested_recall: Share,
    pub(super) wrong: Classes,
    pub(super) missed: Classes,
}

/// All that can be seen of a leg. Legs that look alike may be exchanged: none can tell them apart.
type Look<'a> = (&'a str, base::Date, i64, &'a str);

fn look(row: &Row) -> Look<'_> {
    (&row.name.0, row.posted_on, row.amount_minor, &row.description)
}

pub(super) fn score(case: &Case, answer: &Answer) -> Score {
    let mut score = Score::default();
    let mut pairs: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    let mut alike: BTreeMap<Look<'_>, BTreeSet<&str>> = BTreeMap::new();
    for (place, row) in case.rows.iter().enumerate() {
        if let Some(pair) = &row.pair {
            pairs.entry(pair).or_default().push(place);
            alike.entry(look(row)).or_default().insert(pair);
        }
    }
    let mut flagged = BTreeSet::new();
    let (mut joined, mut suggested) = (BTreeSet::new(), BTreeSet::new());
    for it in &answer.transfers {
        let (out, into) = (&case.rows[it.outflow], &case.rows[it.inflow]);
        let of_both = alike.get(&look(out)).zip(alike.get(&look(into)));
        let mut of_both = of_both.into_iter().flat_map(|(one, other)| one.intersection(other));
        let right = of_both.find(|it| !suggested.contains(*it)).copied();
        suggested.extend(right);
        if !it.paired {
            continue;
        }
        flagged.extend([it.outflow, it.inflow]);
        score.pair_precision.count(right.is_some());
        joined.extend(right);
        if right.is_none() {
            let kind = |it: &Row| it.transfer.clone().unwrap_or(it.category.detailed().to_owned());
            let class = format!("{} with {}", kind(out), kind(into));
            score.wrong.count(class, || both(out, into));
        }
    }
    for row in &flagged {
        score.flag_precision.count(case.rows[*row].transfer.is_some());
    }
    for (pair, rows) in pairs.iter().filter(|it| it.1.len() == 2) {
        for row in rows {
            score.flag_recall.count(flagged.contains(row));
        }
        score.pair_recall.count(joined.contains(pair));
        score.suggested_recall.count(suggested.contains(pair));
        if !joined.contains(pair) {
            let (one, other) = (&case.rows[rows[0]], &case.rows[rows[1]]);
            let (out, into) = if one.amount_minor < 0 { (one, other) } else { (other, one) };
            let kind = out.transfer.as_deref().unwrap_or_default();
            let class = format!("{kind} [{} / {}]", out.noise, into.noise);
            score.missed.count(class, || both(out, into));
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

fn both(out: &Row, into: &Row) -> String {
    let leg = |it: &Row| {
        format!("{} {:?} {} {}", it.posted_on, it.description, it.amount_minor, it.name.0)
    };
    format!("{} -> {}", leg(out), leg(into))
}
