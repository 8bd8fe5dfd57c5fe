//! Keeps the id of a stream from one run to the next while its payments change.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use base::TransactionId;

/// For each found stream, the known stream it continues: at least half of their combined transactions are in both.
/// The best overlaps are assigned first, and no known stream is assigned twice.
pub fn match_stream_ids<K: Copy + Ord>(
    known: &[(K, Vec<TransactionId>)],
    found: &[Vec<TransactionId>],
) -> Vec<Option<K>> {
    let sets: Vec<BTreeSet<TransactionId>> =
        known.iter().map(|(_, ids)| ids.iter().copied().collect()).collect();
    let mut owners: BTreeMap<TransactionId, Vec<usize>> = BTreeMap::new();
    for (index, ids) in sets.iter().enumerate() {
        for id in ids {
            owners.entry(*id).or_default().push(index);
        }
    }
    let mut overlaps = Vec::new();
    for (at, ids) in found.iter().enumerate() {
        let ids: BTreeSet<TransactionId> = ids.iter().copied().collect();
        let mut shared: BTreeMap<usize, usize> = BTreeMap::new();
        for owner in ids.iter().filter_map(|id| owners.get(id)).flatten() {
            *shared.entry(*owner).or_default() += 1;
        }
        for (owner, both) in shared {
            let all = ids.len() + sets[owner].len() - both;
            if both * 2 >= all {
                overlaps.push(Overlap { both, all, id: known[owner].0, at });
            }
        }
    }
    overlaps.sort_by(|a, b| {
        // Fractions are compared by cross-multiplication.
        (b.both * a.all).cmp(&(a.both * b.all)).then_with(|| a.order().cmp(&b.order()))
    });
    let mut carried = vec![None; found.len()];
    let mut used = BTreeSet::new();
    for it in overlaps {
        if carried[it.at].is_none() && used.insert(it.id) {
            carried[it.at] = Some(it.id);
        }
    }
    carried
}

struct Overlap<K> {
    both: usize,
    all: usize,
    id: K,
    at: usize,
}

impl<K: Copy + Ord> Overlap<K> {
    /// The order among equal fractions: larger overlaps first. The rest of the order is arbitrary but deterministic.
    fn order(&self) -> (Reverse<usize>, K, usize) {
        (Reverse(self.both), self.id, self.at)
    }
}
