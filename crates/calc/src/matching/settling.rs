//! Recognises a pending transaction in the posted one that settles it, where no id says so.

use std::cmp::Ordering;
use std::collections::{BTreeSet, HashMap};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use base::days_from_date;
use base::draft::TransactionDraft;

use super::Pairing;

/// A posted date may lie this many days before or after the pending one's.
const DAYS_BEFORE_MAX: i64 = 3;
const DAYS_AFTER_MAX: i64 = 14;
/// How many pending ones are looked at for one draft. Nobody has more of like amount in that time,
/// and without a bound a hostile file would cost the square of its length.
const LOOKS_MAX: usize = 256;

/// Pairs posted drafts with pending ones of the same sign and a similar description: all with the
/// exact amount first, then outflows whose amount moved by a tip or a hold. Nearest days go first
/// in both, and drafts in an order of their own, so that it does not matter how the source listed
/// them. A draft that names what it settles is not guessed about.
pub(super) fn by_likeness(pairing: &mut Pairing<'_>) {
    let mut waiting = Waiting::of(pairing);
    if waiting.by_day.is_empty() {
        return;
    }
    let mut open: Vec<Posted> = pairing
        .drafts
        .iter()
        .enumerate()
        .filter(|(index, it)| pairing.is_open(*index) && !it.pending && it.settles.is_none())
        .map(|(index, it)| Posted::of(index, it))
        .collect();
    open.sort_by(|a, b| own_order(&pairing.drafts[a.index], &pairing.drafts[b.index]));
    for exact in [true, false] {
        for distance in 0..=DAYS_AFTER_MAX {
            open.retain_mut(|posted| match waiting.take(posted, distance, exact) {
                Some(known) => {
                    pairing.pair(posted.index, known);
                    false
                }
                None => true,
            });
        }
    }
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

/// Known pending transactions that no draft has claimed yet, by day, then amount, then order.
struct Waiting {
    by_day: HashMap<i64, BTreeSet<(i64, usize)>>,
    /// Of every known one that waits, by its place in `known`.
    words: Vec<Words>,
}

impl Waiting {
    fn of(pairing: &Pairing<'_>) -> Waiting {
        let mut waiting = Waiting { by_day: HashMap::new(), words: Vec::new() };
        for (index, it) in pairing.known.iter().enumerate() {
            if it.content.pending && !pairing.taken[index] {
                let day = days_from_date(it.content.posted_on);
                let place = (it.content.amount.minor(), index);
                waiting.by_day.entry(day).or_default().insert(place);
                waiting.words.resize_with(index, Words::default);
                waiting.words.push(Words::of(&it.content.description));
            }
        }
        waiting
    }

    fn take(&mut self, posted: &mut Posted, distance: i64, exact: bool) -> Option<usize> {
        let later = (1..=DAYS_BEFORE_MAX).contains(&distance).then_some(posted.day + distance);
        self.take_on(posted, posted.day - distance, exact)
            .or_else(|| self.take_on(posted, later?, exact))
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
