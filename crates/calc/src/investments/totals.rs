//! Totals over holdings in the base currency, and each holding's share.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use base::draft::AssetClass;
use base::{Currency, Percent};

use super::{Holding, Total};
use crate::rates::Rates;

/// A hundred percent, in the hundredths that `Percent` counts.
const WHOLE: i128 = 10_000;

pub(super) fn value_in_base(holding: &Holding, rates: &Rates) -> Option<i64> {
    rates.to_base(holding.current_value_minor?, holding.currency)
}

pub(super) fn total(holdings: &[Holding], rates: &Rates) -> Total {
    let mut value = Sum::default();
    let (mut change, mut yesterday) = (Sum::default(), Sum::default());
    let (mut gain, mut basis) = (Sum::default(), Sum::default());
    // Cash costs what it is worth, so alone it says nothing about the gain of the rest.
    let is_cash = |it: &Holding| it.asset_class == AssetClass::Cash;
    let has_cost = |it: &Holding| it.cost_basis_total_minor.is_some() && !is_cash(it);
    let valued = || holdings.iter().filter(|it| value_in_base(it, rates).is_some());
    let has_gain = valued().any(has_cost) || valued().all(is_cash);
    for holding in holdings {
        let in_base = |minor: Option<i64>| rates.to_base(minor?, holding.currency);
        let Some(worth) = in_base(holding.current_value_minor) else { continue };
        value.add(worth, 0);
        if let Some(moved) = in_base(holding.day_change_minor) {
            change.add(moved, 0);
            yesterday.add(worth, moved);
        }
        if let Some(cost) = in_base(holding.cost_basis_total_minor).filter(|_| has_gain) {
            gain.add(worth, cost);
            basis.add(cost, 0);
        }
    }
    Total {
        current_value_minor: value.get(),
        day_change_minor: change.get(),
        day_change_percent: change.percent_of(yesterday),
        cost_basis_total_minor: basis.get(),
        total_gain_loss_minor: gain.get(),
        total_gain_loss_percent: gain.percent_of(basis),
    }
}

/// The value of holdings in currencies without an exchange rate, which no total includes.
pub(super) fn excluded(holdings: &[Holding], rates: &Rates) -> BTreeMap<Currency, i64> {
    let mut excluded: BTreeMap<Currency, i64> = BTreeMap::new();
    for holding in holdings.iter().filter(|it| rates.rate(it.currency).is_none()) {
        let sum = excluded.entry(holding.currency).or_default();
        *sum = sum.saturating_add(holding.current_value_minor.unwrap_or(0));
    }
    excluded
}

/// Rounds every share down and gives the missing hundredths to those with the largest remainders, so that the shares
/// add up. No shares if the total is not positive.
pub(super) fn share(holdings: &mut [Holding], rates: &Rates) {
    let worth: Vec<Option<i64>> = holdings.iter().map(|it| value_in_base(it, rates)).collect();
    let whole: i128 = worth.iter().flatten().copied().map(i128::from).sum();
    if whole <= 0 {
        return;
    }
    let mut missing = WHOLE;
    let mut cut: Vec<(Reverse<i128>, usize)> = Vec::with_capacity(holdings.len());
    for (index, worth) in worth.into_iter().enumerate() {
        let Some(worth) = worth else { continue };
        let scaled = i128::from(worth) * WHOLE;
        let share = scaled.div_euclid(whole);
        holdings[index].percent_of_account = i64::try_from(share).ok().map(Percent);
        cut.push((Reverse(scaled.rem_euclid(whole)), index));
        missing -= share;
    }
    cut.sort_unstable();
    // Each share lost less than one hundredth, so fewer are missing than there are shares.
    for (_, index) in cut.into_iter().take(usize::try_from(missing).unwrap_or(0)) {
        if let Some(share) = &mut holdings[index].percent_of_account {
            share.0 += 1;
        }
    }
}

/// A sum that is unknown until something is added.
#[derive(Clone, Copy, Default)]
struct Sum(Option<i128>);

impl Sum {
    fn add(&mut self, plus: i64, minus: i64) {
        self.0 = Some(self.0.unwrap_or(0) + i128::from(plus) - i128::from(minus));
    }

    fn get(self) -> Option<i64> {
        self.0.and_then(|it| i64::try_from(it).ok())
    }

    fn percent_of(self, whole: Sum) -> Option<Percent> {
        Percent::of(self.get()?, whole.get().filter(|it| *it > 0)?)
    }
}
