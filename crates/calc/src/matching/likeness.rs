//! Recognises what is the same but does not look it: a pending transaction in the posted one that settles it, and what
//! one source says in what another says of it.

use std::cmp::Ordering;
use std::collections::{BTreeSet, HashMap};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use base::days_from_date;
use base::draft::TransactionDraft;

use super::{Known, Pairing, givers};

/// A posted date may lie this many days before or after the pending one's.
const DAYS_BEFORE_MAX: i64 = 3;
const DAYS_AFTER_MAX: i64 = 14;
/// Two sources may date the same purchase this many days apart: one by when it was made, one by when it was booked.
const CROSSING_DAYS_MAX: i64 = 4;
/// How many known ones are looked at for one draft. Nobody has more of like amount in that time,
/// and without a bound a hostile file would cost the square of its length.
const LOOKS_MAX: usize = 256;

/// Pairs posted drafts with pending ones of the same sign and a similar description: all with the
/// exact amount first, then outflows whose amount moved by a tip or a hold. Nearest days go first
/// in both, and drafts in an order of their own, so that it does not matter how the source listed
/// them. A draft that names what it settles is not guessed about.
pub(super) fn settle_pending(pairing: &mut Pairing<'_>) {
    let mut waiting = Waiting::of(pairing, |it| it.content.pending);
    if waiting.by_day.is_empty() {
        return;
    }
    let mut open = open_drafts(pairing);
    for exact in [true, false] {
        for distance in 0..=DAYS_AFTER_MAX {
            let later = (1..=DAYS_BEFORE_MAX).contains(&distance);
            waiting.pair(pairing, &mut open, Look { distance, later, exact });
        }
    }
}

/// Pairs posted drafts with posted ones that another source brought, of the same amount and a similar description a few
/// days around. A source never crosses itself: what it lists twice, it means twice.
pub(super) fn cross_givers(pairing: &mut Pairing<'_>) {
    let giver = pairing.giver;
    let mut waiting = Waiting::of(pairing, |it| !it.content.pending && givers::of(it) != giver);
    if waiting.by_day.is_empty() {
        return;
    }
    let mut open = open_drafts(pairing);
    for distance in 0..=CROSSING_DAYS_MAX {
        waiting.pair(pairing, &mut open, Look { distance, later: distance > 0, exact: true });
    }
}

fn open_drafts(pairing: &Pairing<'_>) -> Vec<Posted> {
    let mut open: Vec<Posted> = pairing
        .drafts
        .iter()
        .enumerate()
        .filter(|(index, it)| pairing.is_open(*index) && !it.pending && it.settles.is_none())
        .map(|(index, it)| Posted::of(index, it))
        .collect();
    open.sort_by(|a, b| own_order(&pairing.drafts[a.index], &pairing.drafts[b.index]));
    open
}

/// Where to look: so many days before, or after as well, for just that amount or one near it.
#[derive(Clone, Copy)]
struct Look {
    distance: i64,
    later: bool,
    exact: bool,
}

/// A draft that may settle something, with what the search needs of it.
struct Posted {
    index: usize,
    day: i64,
    minor: i64,
    words: Words,
    looks_left: usize,
}

impl Posted {
    fn of(index: usize, draft: &TransactionDraft) -> Posted {
        Posted {
            index,
            day: days_from_date(draft.posted_on),
            minor: draft.amount.minor(),
            words: Words::of(&draft.description),
            looks_left: LOOKS_MAX,
        }
    }

    /// The pending amounts that this one may settle, lowest first. It is between three quarters and
    /// one and a half of them, which is worked back here: money out ends higher by a tip, lower by
    /// a hold.
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

/// Known transactions that no draft has claimed yet, by day, then amount, then order.
struct Waiting {
    by_day: HashMap<i64, BTreeSet<(i64, usize)>>,
    /// Of every known one that waits, by its place in `known`.
    words: Vec<Words>,
}

impl Waiting {
    fn of(pairing: &Pairing<'_>, may_be: impl Fn(&Known) -> bool) -> Waiting {
        let mut waiting = Waiting { by_day: HashMap::new(), words: Vec::new() };
        for (index, it) in pairing.known.iter().enumerate() {
            if !pairing.taken[index] && may_be(it) {
                let day = days_from_date(it.content.posted_on);
                let place = (it.content.amount.minor(), index);
                waiting.by_day.entry(day).or_default().insert(place);
                waiting.words.resize_with(index, Words::default);
                waiting.words.push(Words::of(&it.content.description));
            }
        }
        waiting
    }

    /// Pairs what is found at that distance, and keeps the rest open.
    fn pair(&mut self, pairing: &mut Pairing<'_>, open: &mut Vec<Posted>, look: Look) {
        open.retain_mut(|posted| match self.take(posted, look) {
            Some(known) => {
                pairing.pair(posted.index, known);
                false
            }
            None => true,
        });
    }

    fn take(&mut self, posted: &mut Posted, look: Look) -> Option<usize> {
        let later = look.later.then_some(posted.day + look.distance);
        self.take_on(posted, posted.day - look.distance, look.exact)
            .or_else(|| self.take_on(posted, later?, look.exact))
    }

    fn take_on(&mut self, posted: &mut Posted, day: i64, exact: bool) -> Option<usize> {
        let (least, most) = posted.amounts(exact)?;
        let of_day = self.by_day.get_mut(&day)?;
        let place = of_day
            .range((least, 0)..=(most, usize::MAX))
            .take(posted.looks_left)
            .inspect(|_| posted.looks_left -= 1)
            .find(|(_, index)| self.words[*index].are_like(&posted.words))
            .copied()?;
        of_day.remove(&place);
        Some(place.1)
    }
}

/// The distinct words of a description in capitals, letters and digits only, as sorted hashes: they
/// are only compared, and numbers compare fastest.
#[derive(Default)]
struct Words(Vec<u64>);

impl Words {
    fn of(description: &str) -> Words {
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
        Words(words)
    }

    /// Whether at least half of the words of the shorter are in the longer. Nothing is like no
    /// words but no words.
    fn are_like(&self, other: &Words) -> bool {
        let (short, long) =
            if self.0.len() <= other.0.len() { (&self.0, &other.0) } else { (&other.0, &self.0) };
        let shared = short.iter().filter(|it| long.binary_search(it).is_ok()).count();
        shared * 2 >= short.len() && (shared > 0 || long.is_empty())
    }
}

fn own_order(a: &TransactionDraft, b: &TransactionDraft) -> Ordering {
    let key = |it: &TransactionDraft| (it.posted_on, it.amount.minor());
    key(a)
        .cmp(&key(b))
        .then_with(|| a.description.cmp(&b.description))
        .then_with(|| a.external_id.cmp(&b.external_id))
}
