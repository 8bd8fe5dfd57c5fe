//! A card's value this year, and the benefits about to expire.

use std::cmp::Reverse;

use base::{Date, days_from_date};

use super::usage::{BenefitState, Status, Usage};

/// All amounts in minor units of the card's currency.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Summary {
    pub annual_fee_minor: i64,
    /// The total of the current periods, without unusable benefits.
    pub total_minor: i64,
    pub used_minor: i64,
    pub pending_minor: i64,
    pub remaining_minor: i64,
    /// The amount used in this calendar year so far, in any period.
    pub captured_minor: i64,
    /// The unused amount of periods that ended in this calendar year. Benefits that no statement shows are not
    /// counted, because their use is unknown.
    pub missed_minor: i64,
    /// The captured amount less the annual fee.
    pub net_value_minor: i64,
}

pub fn summary(usage: &Usage<'_>) -> Summary {
    let usable = || usage.current.iter().filter(|it| it.status != Status::NotUsable);
    let all = || usage.current.iter().chain(&usage.ended);
    let missed = usage
        .ended
        .iter()
        .filter(|it| it.status == Status::Expired && (it.benefit.observable || it.used_minor > 0));
    let captured_minor = sum(all().map(|it| it.captured_minor));
    Summary {
        annual_fee_minor: usage.annual_fee_minor,
        total_minor: sum(usable().map(|it| it.total_minor)),
        used_minor: sum(usable().map(|it| it.used_minor)),
        pending_minor: sum(usable().map(|it| it.pending_minor)),
        remaining_minor: sum(usable().map(|it| it.remaining_minor)),
        captured_minor,
        missed_minor: sum(missed.map(|it| it.remaining_minor)),
        net_value_minor: captured_minor.saturating_sub(usage.annual_fee_minor),
    }
}

fn sum(amounts: impl Iterator<Item = i64>) -> i64 {
    amounts.fold(0, i64::saturating_add)
}

/// The number of days until its last day, on which it is 0.
pub fn days_left(state: &BenefitState<'_>, as_of: Date) -> i64 {
    days_from_date(state.expires_on) - days_from_date(as_of)
}

/// Benefits that expire today or in at most so many days: the soonest first, then the largest amount.
pub fn expiring<'a, 'b>(
    states: &'b [BenefitState<'a>],
    days: i64,
    as_of: Date,
) -> Vec<&'b BenefitState<'a>> {
    let is_open = |it: &&BenefitState<'_>| {
        matches!(it.status, Status::Available | Status::PartiallyUsed) && it.remaining_minor > 0
    };
    let is_near = |it: &&BenefitState<'_>| (0..=days).contains(&days_left(it, as_of));
    let mut soon: Vec<&BenefitState<'a>> = states.iter().filter(is_open).filter(is_near).collect();
    soon.sort_by_key(|it| (it.expires_on, Reverse(it.remaining_minor)));
    soon
}
