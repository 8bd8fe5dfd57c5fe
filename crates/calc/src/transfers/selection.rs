//! Selects the pairs among the candidates: the best first, each leg once.

use std::cmp::Reverse;

use super::candidates::{Basis, Candidate};
use super::{ACCEPT_HALVES, Evidence, Leg, Pair, PairingResult};

/// Selects the pairs and the suggestions. Accepted candidates go before suggested ones, whatever their basis, so that a
/// suggestion never takes the leg of an accepted pair.
pub(super) fn choose(candidates: Vec<Candidate>, legs: &[Leg]) -> PairingResult {
    let (accepted, suggested): (Vec<_>, Vec<_>) = candidates.into_iter().partition(is_sure);
    let mut paired = vec![false; legs.len()];
    PairingResult {
        pairs: best_first(accepted, legs, &mut paired),
        suggestions: best_first(suggested, legs, &mut paired),
    }
}

/// Whether the candidate is accepted without asking. With an exchange rate many amounts agree, so then a text must
/// name the other account, however many points the rest has.
fn is_sure(candidate: &Candidate) -> bool {
    let names_other = |it: &Evidence| matches!(it, Evidence::NamesOther(..));
    candidate.points_halves >= ACCEPT_HALVES
        && (candidate.basis != Basis::Exchange || candidate.evidence.iter().any(names_other))
}

fn best_first(mut candidates: Vec<Candidate>, legs: &[Leg], paired: &mut [bool]) -> Vec<Pair> {
    candidates.retain(|it| it.legs().iter().all(|leg| !paired[*leg]));
    candidates.sort_unstable_by_key(|it| {
        let ids = (legs[it.outflow].id, legs[it.inflow].id);
        (it.basis, Reverse(it.points_halves), it.gap_days, ids)
    });
    let mut choice = Selection::new(&candidates, legs.len());
    let mut selected = Vec::new();
    for (index, candidate) in candidates.iter().enumerate() {
        if candidate.legs().iter().all(|leg| !paired[*leg]) {
            for leg in candidate.legs() {
                paired[leg] = true;
                choice.chosen[leg] = Some(index);
            }
            selected.push(index);
        }
    }
    let as_pair = |index: usize| Pair {
        outflow: legs[candidates[index].outflow].id,
        inflow: legs[candidates[index].inflow].id,
        kind: candidates[index].kind,
        points_halves: candidates[index].points_halves,
        evidence: candidates[index].evidence.clone(),
        ambiguous: choice.is_ambiguous(index),
        fee_minor: candidates[index].fee_minor,
    };
    let mut pairs: Vec<Pair> = selected.into_iter().map(as_pair).collect();
    pairs.sort_unstable_by_key(|it| (it.outflow, it.inflow));
    pairs
}

struct Selection<'a> {
    candidates: &'a [Candidate],
    /// The selected candidate of each leg.
    chosen: Vec<Option<usize>>,
    /// All candidates by each of their legs.
    by_leg: Vec<(usize, usize)>,
}

impl<'a> Selection<'a> {
    fn new(candidates: &'a [Candidate], legs: usize) -> Selection<'a> {
        let mut by_leg: Vec<(usize, usize)> = Vec::with_capacity(candidates.len() * 2);
        for (index, it) in candidates.iter().enumerate() {
            by_leg.extend(it.legs().map(|leg| (leg, index)));
        }
        by_leg.sort_unstable();
        Selection { candidates, chosen: vec![None; legs], by_leg }
    }

    fn of(&self, leg: usize) -> impl Iterator<Item = &'a Candidate> {
        let start = self.by_leg.partition_point(|it| it.0 < leg);
        let of_leg = self.by_leg[start..].iter().take_while(move |it| it.0 == leg);
        of_leg.map(|it| &self.candidates[it.1])
    }

    /// Whether the legs could be paired differently without losing anything: one of them with a leg that is left
    /// over, or both with those of another pair.
    fn is_ambiguous(&self, index: usize) -> bool {
        let pair = &self.candidates[index];
        let others = |leg| self.of(leg).filter(|it| it.legs() != pair.legs());
        let is_alone = |leg: usize| self.chosen[leg].is_none();
        let swaps = |other: &Candidate| match self.chosen[other.inflow] {
            None => worth([other]) >= worth([pair]),
            Some(rival) => {
                let rival = &self.candidates[rival];
                let crossed = self.of(rival.outflow).find(|it| it.inflow == pair.inflow);
                crossed.is_some_and(|it| worth([other, it]) >= worth([pair, rival]))
            }
        };
        others(pair.outflow).any(swaps)
            || others(pair.inflow).any(|it| is_alone(it.outflow) && worth([it]) >= worth([pair]))
    }
}

/// The value of selecting these candidates; greater is better.
fn worth<const N: usize>(candidates: [&Candidate; N]) -> (Reverse<Basis>, i32, Reverse<u64>) {
    let basis = candidates.iter().map(|it| it.basis).max().unwrap_or(Basis::Exact);
    let points = candidates.iter().map(|it| it.points_halves).sum();
    let gap_days = candidates.iter().map(|it| it.gap_days).sum();
    (Reverse(basis), points, Reverse(gap_days))
}
