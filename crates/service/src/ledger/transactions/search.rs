//! Text search: finds the days that may have a transaction with a text.
//!
//! The texts of four days are packed into one bucket. Triggers mark a bucket dirty when a text is added that it may lack,
//! and a background step packs it again. A search reads the buckets, which takes a fraction of reading the transactions,
//! and then only the transactions of the days whose bucket contains the text or is dirty. So results never depend on how
//! far the background step has come (docs/decisions/0012-searching-packed-text.md).

use std::collections::{BTreeSet, VecDeque};
use std::future::Future;

use base::{TransactionId, UserId, days_from_date};
use db::{Tx, params};

use super::Filter;
use crate::{App, Error, Result};

/// `posted_on >> DAYS_SHIFT` is the bucket of a transaction, here and in the triggers of the schema.
const DAYS_SHIFT: u32 = 2;
/// Buckets with the text that are looked up together: enough for a page of a common text.
const BUCKETS_A_LOOKUP: i64 = 64;
/// Buckets that one background step packs in one transaction.
const BUCKETS_A_STEP: i64 = 32;
/// More text than this on four days is not packed; those days are searched row by row.
const WORDS_MAX: usize = 16 << 20;
/// Transactions read together while searching: few at first, because a common text is found soon.
const CHUNK_MAX: usize = 4_096;

/// The text to search for, in upper or lower case.
pub(super) struct Needle {
    folded: String,
    buffer: String,
}

impl Needle {
    pub(super) fn new(text: &str) -> Needle {
        let mut folded = String::new();
        fold_into(text, &mut folded);
        Needle { folded, buffer: String::new() }
    }

    pub(super) fn is_in(&mut self, text: &str) -> bool {
        self.buffer.clear();
        fold_into(text, &mut self.buffer);
        self.buffer.contains(&self.folded)
    }
}

/// Appends a text with its case folded, letter by letter, so that a substring folds to a substring of the result.
fn fold_into(text: &str, out: &mut String) {
    if text.is_ascii() {
        let start = out.len();
        out.push_str(text);
        out[start..].make_ascii_lowercase();
        return;
    }
    // Through upper case first, because some lower-case letters share one, such as the two forms of a Greek sigma.
    for letter in text.chars() {
        if letter.is_ascii() {
            out.push(letter.to_ascii_lowercase());
        } else {
            out.extend(letter.to_uppercase().flat_map(char::to_lowercase));
        }
    }
}

/// A first and a last day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Days {
    pub(super) first: i64,
    pub(super) last: i64,
}

impl Days {
    fn of_buckets(first: i64, last: i64) -> Days {
        Days { first: first << DAYS_SHIFT, last: (last << DAYS_SHIFT) + (1 << DAYS_SHIFT) - 1 }
    }
}

/// The days that may have the text, newest first.
pub(super) struct CandidateDays {
    user: UserId,
    folded: String,
    /// Dirty buckets, the oldest first.
    dirty: Vec<i64>,
    /// The first and last bucket that are still to be looked up.
    rest: Option<(i64, i64)>,
    found: VecDeque<Days>,
}

impl CandidateDays {
    pub(super) async fn new(
        app: &App,
        user: UserId,
        needle: &Needle,
        filter: &Filter,
        after: Option<(i64, TransactionId)>,
    ) -> Result<CandidateDays> {
        let bucket = |day: i64| day >> DAYS_SHIFT;
        let first = filter.start_on.map_or(i64::MIN, |it| bucket(days_from_date(it)));
        let last = filter.end_on.map_or(i64::MAX, |it| bucket(days_from_date(it)));
        let last = after.map_or(last, |(day, _)| last.min(bucket(day)));
        // Read before the buckets: one that is packed in between is searched twice, and none is missed.
        let dirty = app.db.all(DIRTY, params![user, first, last], |row| row.get(0)).await?;
        let (folded, rest) = (needle.folded.clone(), Some((first, last)));
        Ok(CandidateDays { user, folded, dirty, rest, found: VecDeque::new() })
    }

    pub(super) async fn next(&mut self, app: &App) -> Result<Option<Days>> {
        while self.found.is_empty()
            && let Some((first, last)) = self.rest
        {
            let params = params![self.user, first, last, &self.folded, BUCKETS_A_LOOKUP];
            let mut buckets = BTreeSet::new();
            let mut oldest = first;
            let lookup = app.db.each_slow(CONTAINING, params, |row| {
                oldest = row.get(0)?;
                buckets.insert(oldest);
                Ok(())
            });
            lookup.await?;
            let is_all = (buckets.len() as i64) < BUCKETS_A_LOOKUP;
            let reached = if is_all { first } else { oldest };
            let first_reached = self.dirty.partition_point(|it| *it < reached);
            buckets.extend(self.dirty.drain(first_reached..));
            self.found = merged(buckets);
            self.rest = if is_all { None } else { Some((first, reached - 1)) };
        }
        Ok(self.found.pop_front())
    }
}

/// Merges adjacent buckets to spans of days, the newest first.
fn merged(buckets: BTreeSet<i64>) -> VecDeque<Days> {
    let mut spans: VecDeque<(i64, i64)> = VecDeque::new();
    for bucket in buckets {
        match spans.front_mut() {
            Some((_, last)) if *last + 1 == bucket => *last = bucket,
            _ => spans.push_front((bucket, bucket)),
        }
    }
    spans.into_iter().map(|(first, last)| Days::of_buckets(first, last)).collect()
}

/// The numbers of rows to read at a time, without end.
pub(super) fn chunks(first: usize) -> impl Iterator<Item = usize> {
    std::iter::successors(Some(first.clamp(64, CHUNK_MAX)), |it| Some((it * 4).min(CHUNK_MAX)))
}

/// Limits the time of all reads of a search together to that of one read. It takes long if many rows contain the text and
/// do not match the other filters.
pub(super) async fn with_time_limit<T>(
    app: &App,
    searching: impl Future<Output = Result<T>>,
) -> Result<T> {
    let most = app.db.read_limits().total;
    tokio::time::timeout(most, searching).await.unwrap_or(Err(Error::TooSlow))
}

/// One background step: packs dirty buckets of one person. Returns how many.
pub async fn index_once(app: &App) -> Result<usize> {
    let Some(user) = app.db.first(NEXT, &[], |row| row.get::<UserId>(0)).await? else {
        return Ok(0);
    };
    let packing = app.db.write(move |tx| {
        let dirty = tx.all(NEWEST_DIRTY, params![user, BUCKETS_A_STEP], |row| row.get::<i64>(0))?;
        for bucket in &dirty {
            pack(tx, user, *bucket)?;
        }
        Ok::<_, Error>(dirty.len())
    });
    packing.await
}

/// Packs the texts of a bucket. A concurrent writer marks the bucket dirty in its own transaction: either all of it is
/// seen here, or its mark remains. The first statement locks the bucket, so that two packers take turns.
fn pack(tx: &mut Tx<'_>, user: UserId, bucket: i64) -> Result<()> {
    tx.execute(LOCK, params![user, bucket])?;
    tx.execute(CLEAR_DIRTY, params![user, bucket])?;
    let Days { first, last } = Days::of_buckets(bucket, bucket);
    let mut lines = BTreeSet::new();
    let mut size = 0;
    tx.each(TEXTS, params![user, first, last], |row| {
        let texts: [Option<&str>; 3] = [row.get(0)?, row.get(1)?, row.get(2)?];
        for text in texts.into_iter().flatten() {
            let mut line = String::with_capacity(text.len());
            fold_into(text, &mut line);
            if size <= WORDS_MAX && !lines.contains(&line) {
                size += line.len() + 1;
                lines.insert(line);
            }
        }
        Ok(())
    })?;
    let words = (size <= WORDS_MAX).then(|| lines.into_iter().collect::<Vec<_>>().join("\n"));
    tx.execute(SAVE, params![user, bucket, words.as_deref()])?;
    Ok(())
}

const NEXT: &str = "select user_id from transaction_search_dirty limit 1";
const NEWEST_DIRTY: &str = "select distinct bucket from transaction_search_dirty where user_id = $1
    order by bucket desc limit $2";
const DIRTY: &str = "select distinct bucket from transaction_search_dirty
    where user_id = $1 and bucket between $2 and $3 order by bucket";
const CONTAINING: &str =
    "select bucket from transaction_search where user_id = $1 and bucket between $2 and $3
    and (words is null or strpos(words, $4) > 0) order by bucket desc limit $5";
const LOCK: &str = "insert into transaction_search (user_id, bucket, words) values ($1, $2, null)
    on conflict (user_id, bucket) do update set words = transaction_search.words";
const CLEAR_DIRTY: &str = "delete from transaction_search_dirty where user_id = $1 and bucket = $2";
const TEXTS: &str = "select description, counterparty, note from transactions
    where user_id = $1 and posted_on between $2 and $3";
const SAVE: &str = "update transaction_search set words = $3 where user_id = $1 and bucket = $2";

pub(super) const STATEMENTS: &[&str] =
    &[NEXT, NEWEST_DIRTY, DIRTY, CONTAINING, LOCK, CLEAR_DIRTY, TEXTS, SAVE];

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn days(first: i64, last: i64) -> Days {
        Days { first, last }
    }

    #[test]
    fn adjacent_buckets_become_one_span_and_the_newest_comes_first() {
        let spans = merged(BTreeSet::from([-2, -1, 0, 4, 6]));
        assert_eq!(spans, [days(24, 27), days(16, 19), days(-8, 3)]);
        assert_eq!(merged(BTreeSet::new()), []);
    }

    #[test]
    fn letters_match_their_other_case() {
        for (text, q) in [
            ("CAFÉ Noir", "café n"),
            ("Crème BRÛLÉE", "crÈme brûlée"),
            ("Straße", "STRASSE"),
            ("ΟΔΟΣ", "οδος"),
            ("ДОМ", "дом"),
        ] {
            assert!(Needle::new(q).is_in(text), "{q} in {text}");
            assert!(Needle::new(text).is_in(&format!("x{q}")) || text.len() != q.len());
        }
        assert!(!Needle::new("cafe").is_in("café"));
    }

    proptest! {
        /// This property makes it safe to search buckets first.
        #[test]
        fn a_substring_stays_a_substring_when_folded(before: String, part: String, behind: String) {
            let whole = format!("{before}{part}{behind}");
            prop_assert!(Needle::new(&part).is_in(&whole));
            prop_assert!(Needle::new(&part.to_uppercase()).is_in(&whole.to_uppercase()));
        }

        #[test]
        fn a_day_is_in_the_days_of_its_bucket(day in -100_000_i64..100_000) {
            let Days { first, last } = Days::of_buckets(day >> DAYS_SHIFT, day >> DAYS_SHIFT);
            prop_assert!((first..=last).contains(&day));
            prop_assert_eq!(last - first, 3);
        }
    }
}
