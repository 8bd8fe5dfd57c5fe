//! Scores recurring streams: which found ones are right, which true ones were missed, and the details of right ones.

use std::collections::BTreeMap;

use base::category::Category;
use base::days_from_date;
use calc::recurring::Frequency;

use super::case::{Case, Row};
use super::classes::Classes;
use super::product::{Answer, Stream};
use super::share::Share;

#[derive(Debug, Clone, Default)]
pub(super) struct Score {
    pub(super) precision: Share,
    pub(super) recall: BTreeMap<Frequency, Share>,
    /// Found ones of the streams that are too short to be required.
    pub(super) short: Share,
    /// True streams that were found as two or more.
    pub(super) fragmented: Share,
    /// Found streams that contain half of two or more true ones.
    pub(super) merged: Share,
    /// Right frequencies. This and all below are shares of the right streams.
    pub(super) frequency: Share,
    /// Rightly found to continue or to have ended.
    pub(super) status: Share,
    /// The right next day, of streams that continue.
    pub(super) next_exact: Share,
    pub(super) next_within_1: Share,
    pub(super) next_within_3: Share,
    pub(super) wrong: Classes,
    pub(super) missed: Classes,
}

/// A found stream, compared with the true streams of its rows.
struct Match<'a> {
    found: &'a Stream,
    /// The number of its rows in each true stream.
    parts: BTreeMap<usize, usize>,
    /// The true stream that it matches, if any.
    is: Option<usize>,
}

impl<'a> Match<'a> {
    fn of(case: &Case, found: &'a Stream) -> Match<'a> {
        let mut parts = BTreeMap::new();
        for stream in found.rows.iter().filter_map(|it| case.rows[*it].stream) {
            *parts.entry(stream).or_default() += 1;
        }
        let is_right = |(stream, rows): &(&usize, &usize)| {
            let truth = &case.streams[**stream];
            let pure = **rows * 5 >= found.rows.len() * 4;
            truth.counts && pure && covers_half(case, **stream, **rows)
        };
        let is = parts.iter().find(is_right).map(|it| *it.0);
        Match { found, parts, is }
    }

    fn half_covered<'b>(&'b self, case: &'b Case) -> impl Iterator<Item = usize> + 'b {
        let half_covered = self.parts.iter().filter(|(it, rows)| covers_half(case, **it, **rows));
        half_covered.map(|it| *it.0)
    }

    fn mostly(&self) -> Option<usize> {
        self.parts.iter().max_by_key(|it| *it.1).map(|it| *it.0)
    }
}

fn covers_half(case: &Case, stream: usize, rows: usize) -> bool {
    rows * 2 >= case.streams[stream].occurrences
}

pub(super) fn score(case: &Case, answer: &Answer) -> Score {
    let mut score = Score::default();
    let matches: Vec<Match> = answer.streams.iter().map(|it| Match::of(case, it)).collect();
    let mut parts_of: BTreeMap<usize, usize> = BTreeMap::new();
    for it in &matches {
        score.precision.count(it.is.is_some());
        score.merged.count(it.half_covered(case).count() > 1);
        if let Some(stream) = it.mostly() {
            *parts_of.entry(stream).or_default() += 1;
        }
        match it.is {
            Some(stream) => score.detail(case, stream, it.found),
            None => score.wrong.count(wrong_class(case, it), || shown(case, it.found)),
        }
    }
    for (index, stream) in case.streams.iter().enumerate() {
        if !stream.counts || stream.occurrences == 0 {
            continue;
        }
        let found = matches.iter().any(|it| it.is == Some(index));
        if stream.short {
            score.short.count(found);
            continue;
        }
        score.recall.entry(stream.cadence).or_default().count(found);
        score.fragmented.count(parts_of.get(&index).is_some_and(|it| *it > 1));
        if !found {
            let seen = parts_of.contains_key(&index);
            let class = missed_class(case, answer, index, seen);
            score.missed.count(class, || described(case, index));
        }
    }
    score
}

impl Score {
    pub(super) fn recall_of_all(&self) -> Share {
        self.recall.values().copied().sum()
    }

    fn detail(&mut self, case: &Case, stream: usize, found: &Stream) {
        let truth = &case.streams[stream];
        self.frequency.count(truth.cadence == found.frequency);
        let Some(next_on) = truth.next_on else { return };
        self.status.count(next_on.is_some() == found.next_on.is_some());
        let Some(next_on) = next_on else { return };
        let error =
            found.next_on.map(|it| (days_from_date(it) - days_from_date(next_on)).unsigned_abs());
        self.next_exact.count(error == Some(0));
        self.next_within_1.count(error.is_some_and(|it| it <= 1));
        self.next_within_3.count(error.is_some_and(|it| it <= 3));
    }

    pub(super) fn add(&mut self, other: &Score) {
        self.precision.add(other.precision);
        for (cadence, share) in &other.recall {
            self.recall.entry(*cadence).or_default().add(*share);
        }
        self.short.add(other.short);
        self.fragmented.add(other.fragmented);
        self.merged.add(other.merged);
        self.frequency.add(other.frequency);
        self.status.add(other.status);
        self.next_exact.add(other.next_exact);
        self.next_within_1.add(other.next_within_1);
        self.next_within_3.add(other.next_within_3);
        self.wrong.add(&other.wrong);
        self.missed.add(&other.missed);
    }
}

fn wrong_class(case: &Case, it: &Match) -> String {
    let of = |row: &usize| &case.rows[*row];
    let moved: Vec<&str> =
        it.found.rows.iter().filter_map(|row| of(row).transfer.as_deref()).collect();
    let counts = it.mostly().is_some_and(|stream| case.streams[stream].counts);
    match it.mostly() {
        _ if !counts && moved.len() * 2 > it.found.rows.len() => {
            format!("leg of an own transfer: {}", moved[0])
        }
        _ if it.half_covered(case).count() > 1 => "several streams in one".to_owned(),
        Some(stream) if it.parts[&stream] * 5 >= it.found.rows.len() * 4 => {
            "less than half of a stream".to_owned()
        }
        Some(stream) if it.parts[&stream] * 2 > it.found.rows.len() => {
            "a stream with other rows in it".to_owned()
        }
        _ => {
            let newest = it.found.rows.first().map_or("", |row| of(row).category.detailed());
            format!("no stream: {newest}")
        }
    }
}

fn missed_class(case: &Case, answer: &Answer, stream: usize, seen: bool) -> String {
    let rows: Vec<usize> =
        (0..case.rows.len()).filter(|it| case.rows[*it].stream == Some(stream)).collect();
    let moved = |row: &usize| {
        answer.transfers.iter().any(|it| it.paired && (it.outflow == *row || it.inflow == *row))
    };
    let mut keys: BTreeMap<&str, usize> = BTreeMap::new();
    for row in rows.iter().filter_map(|it| answer.rows[*it].as_ref()) {
        *keys.entry(&row.key).or_default() += 1;
    }
    let largest = keys.values().max().copied().unwrap_or_default();
    let newest = rows.last().and_then(|it| answer.rows[*it].as_ref());
    let category = newest.and_then(|it| it.category).map_or("nothing", Category::detailed);
    if seen {
        "found, but too little of it or with others".to_owned()
    } else if rows.iter().filter(|it| moved(it)).count() * 2 > rows.len() {
        "taken for own transfers".to_owned()
    } else if largest * 5 < rows.len() * 4 {
        "its rows have several keys".to_owned()
    } else {
        format!("not seen, said to be {category}")
    }
}

fn shown(case: &Case, found: &Stream) -> String {
    let Some(newest) = found.rows.first().map(|it| &case.rows[*it]) else {
        return format!("{:?} of no rows", found.name);
    };
    format!(
        "{:?} ({} rows, {}, {}): {}",
        newest.description,
        found.rows.len(),
        found.frequency.as_str(),
        found.name,
        truth_of(newest)
    )
}

fn truth_of(row: &Row) -> String {
    let noise = if row.noise.is_empty() { String::new() } else { format!(" [{}]", row.noise) };
    format!("truly {}, {}{noise}", row.merchant, row.category.detailed())
}

fn described(case: &Case, stream: usize) -> String {
    let truth = &case.streams[stream];
    let rows = || case.rows.iter().filter(|it| it.stream == Some(stream));
    let texts: Vec<String> =
        rows().take(2).map(|it| format!("{:?} {}", it.description, it.amount_minor)).collect();
    let category = rows().next().map_or("", |it| it.category.detailed());
    let (merchant, occurrences) = (&truth.merchant, truth.occurrences);
    let cadence = truth.cadence.as_str();
    format!("{} ({occurrences} rows, {cadence}): truly {merchant}, {category}", texts.join(", "))
}
