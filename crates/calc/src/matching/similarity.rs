//! Matches transactions that are the same but not equal: a posted transaction with the pending one it settles, and
//! reports of one transaction by different sources.

use std::cmp::Ordering;
use std::collections::{BTreeSet, HashMap};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use base::days_from_date;
use base::draft::TransactionDraft;

use super::{KnownTransaction, Matcher, provenance};

/// A posted date may lie this many days before or after the pending one's.
const DAYS_BEFORE_MAX: i64 = 3;
const DAYS_AFTER_MAX: i64 = 14;
/// Two sources may date the same purchase this many days apart: one by the purchase, one by the booking.
const OTHER_SOURCE_DAYS_MAX: i64 = 4;
/// The number of known transactions considered for one draft. More of similar amount never occur in practice, and
/// without a limit a hostile file would take quadratic time.
const CANDIDATES_MAX: usize = 256;

/// Matches posted drafts with pending transactions of the same sign and a similar description: first those with the
/// exact amount, then outflows whose amount changed by a tip or a hold. The nearest days go first, and drafts are
/// sorted, so that the order of the source does not matter. A draft that names the transaction it settles is left out.
pub(super) fn match_pending(matcher: &mut Matcher<'_>) {
    let mut unclaimed = UnclaimedTransactions::of(matcher, |it| it.content.pending);
    if unclaimed.by_day.is_empty() {
        return;
    }
    let mut open = open_drafts(matcher);
    for exact in [true, false] {
        for distance in 0..=DAYS_AFTER_MAX {
            let later = (1..=DAYS_BEFORE_MAX).contains(&distance);
            unclaimed.pair(matcher, &mut open, SearchWindow { distance, later, exact });
        }
    }
}

/// Matches posted drafts with posted transactions of other sources, with the same amount and a similar description
/// within a few days. A source is never matched with itself: two rows of one source are two transactions.
pub(super) fn match_other_sources(matcher: &mut Matcher<'_>) {
    let provenance = matcher.provenance;
    let mut unclaimed = UnclaimedTransactions::of(matcher, |it| {
        !it.content.pending && provenance::of(it) != provenance
    });
    if unclaimed.by_day.is_empty() {
        return;
    }
    let mut open = open_drafts(matcher);
    for distance in 0..=OTHER_SOURCE_DAYS_MAX {
        unclaimed.pair(
            matcher,
            &mut open,
            SearchWindow { distance, later: distance > 0, exact: true },
        );
    }
}

fn open_drafts(matcher: &Matcher<'_>) -> Vec<OpenDraft> {
    let mut open: Vec<OpenDraft> = matcher
        .drafts
        .iter()
        .enumerate()
        .filter(|(index, it)| matcher.is_open(*index) && !it.pending && it.settles.is_none())
        .map(|(index, it)| OpenDraft::of(index, it))
        .collect();
    open.sort_by(|a, b| stable_order(&matcher.drafts[a.index], &matcher.drafts[b.index]));
    open
}

/// The dates and amounts to search: so many days before (or after as well), with the same or a similar amount.
#[derive(Clone, Copy)]
struct SearchWindow {
    distance: i64,
    later: bool,
    exact: bool,
}

/// An unmatched posted draft, prepared for the search.
struct OpenDraft {
    index: usize,
    day: i64,
    minor: i64,
    words: WordSet,
    candidates_left: usize,
}

impl OpenDraft {
    fn of(index: usize, draft: &TransactionDraft) -> OpenDraft {
        OpenDraft {
            index,
            day: days_from_date(draft.posted_on),
            minor: draft.amount.minor(),
            words: WordSet::of(&draft.description),
            candidates_left: CANDIDATES_MAX,
        }
    }

    /// The range of pending amounts that this one may settle, lowest first: it is between three quarters and one and
    /// a half of them. Outflows increase by a tip, or decrease from a hold.
    fn amounts(&self, exact: bool) -> Option<(i64, i64)> {
        if exact {
            return Some((self.minor, self.minor));
        }
        let spent = i128::from(self.minor).abs();
        let (least, most) = ((spent * 2 + 2) / 3, spent * 4 / 3);
        let bound = |it: i128| i64::try_from(-it).unwrap_or(i64::MIN);
        (self.minor < 0).then(|| (bound(most), bound(least)))
    }
}

/// Known transactions not matched with a draft yet, by day, amount and order.
struct UnclaimedTransactions {
    by_day: HashMap<i64, BTreeSet<(i64, usize)>>,
    /// The words of each unmatched transaction, by its index in `known`.
    words: Vec<WordSet>,
}

impl UnclaimedTransactions {
    fn of(
        matcher: &Matcher<'_>,
        may_be: impl Fn(&KnownTransaction) -> bool,
    ) -> UnclaimedTransactions {
        let mut unclaimed = UnclaimedTransactions { by_day: HashMap::new(), words: Vec::new() };
        for (index, it) in matcher.known.iter().enumerate() {
            if !matcher.claimed[index] && may_be(it) {
                let day = days_from_date(it.content.posted_on);
                let key = (it.content.amount.minor(), index);
                unclaimed.by_day.entry(day).or_default().insert(key);
                unclaimed.words.resize_with(index, WordSet::default);
                unclaimed.words.push(WordSet::of(&it.content.description));
            }
        }
        unclaimed
    }

    /// Matches open drafts at that distance, and keeps the others open.
    fn pair(&mut self, matcher: &mut Matcher<'_>, open: &mut Vec<OpenDraft>, window: SearchWindow) {
        open.retain_mut(|posted| match self.take(posted, window) {
            Some(known) => {
                matcher.pair(posted.index, known);
                false
            }
            None => true,
        });
    }

    fn take(&mut self, posted: &mut OpenDraft, window: SearchWindow) -> Option<usize> {
        let later = window.later.then_some(posted.day + window.distance);
        self.take_on(posted, posted.day - window.distance, window.exact)
            .or_else(|| self.take_on(posted, later?, window.exact))
    }

    fn take_on(&mut self, posted: &mut OpenDraft, day: i64, exact: bool) -> Option<usize> {
        let (least, most) = posted.amounts(exact)?;
        let of_day = self.by_day.get_mut(&day)?;
        let found = of_day
            .range((least, 0)..=(most, usize::MAX))
            .take(posted.candidates_left)
            .inspect(|_| posted.candidates_left -= 1)
            .find(|(_, index)| self.words[*index].is_similar(&posted.words))
            .copied()?;
        of_day.remove(&found);
        Some(found.1)
    }
}

/// The distinct words of a description in capitals, letters and digits only, as sorted hashes, because hashes compare
/// fastest.
#[derive(Default)]
struct WordSet(Vec<u64>);

impl WordSet {
    fn of(description: &str) -> WordSet {
        let capitals = description.to_uppercase();
        let parts = capitals.split(|it: char| !it.is_alphanumeric());
        let hash = |word: &str| {
            let mut hasher = DefaultHasher::new();
            word.hash(&mut hasher);
            hasher.finish()
        };
        let mut words: Vec<u64> = parts.filter(|it| !it.is_empty()).map(hash).collect();
        words.sort_unstable();
        words.dedup();
        WordSet(words)
    }

    /// Whether at least half of the words of the shorter text occur in the longer. An empty text is only similar to
    /// an empty one.
    fn is_similar(&self, other: &WordSet) -> bool {
        let (short, long) =
            if self.0.len() <= other.0.len() { (&self.0, &other.0) } else { (&other.0, &self.0) };
        let shared = short.iter().filter(|it| long.binary_search(it).is_ok()).count();
        shared * 2 >= short.len() && (shared > 0 || long.is_empty())
    }
}

fn stable_order(a: &TransactionDraft, b: &TransactionDraft) -> Ordering {
    let key = |it: &TransactionDraft| (it.posted_on, it.amount.minor());
    key(a)
        .cmp(&key(b))
        .then_with(|| a.description.cmp(&b.description))
        .then_with(|| a.external_id.cmp(&b.external_id))
}
