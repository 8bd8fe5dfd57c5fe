//! Whether days and amounts together are one stream.

use super::amounts::{AmountClass, are_within};
use super::fit::Fit;
use super::schedule::{Frequency, Step};
use super::{Confidence, Nature, Point};

/// What is known of a whole group before its dates are looked at.
#[derive(Debug, Clone, Copy)]
pub(super) struct Traits {
    pub(super) inflow: bool,
    pub(super) nature: Nature,
}

/// Points that are one stream, and why.
pub(super) struct Verdict {
    /// Oldest first.
    pub(super) points: Vec<Point>,
    pub(super) fit: Fit,
    pub(super) class: AmountClass,
    pub(super) confidence: Confidence,
}

/// How rarely random days may look as regular, in times out of a thousand. Regular amounts are evidence of their own, unless
/// the points were picked for it.
const RARE: u32 = 10;
const RARE_WITH_REGULAR_AMOUNTS: u32 = 100;
const RARE_AMONG_MANY: u32 = 1;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rigour {
    Usual,
    /// For points that were picked from many, where something always looks regular.
    Strict,
}

/// The most convincing frequency of points that are oldest first, if any convinces.
pub(super) fn judge(points: &[Point], traits: Traits, rigour: Rigour) -> Option<Verdict> {
    let gaps: Vec<i64> = points.windows(2).map(|it| it[1].at.day - it[0].at.day).collect();
    let usual = twice_median(&gaps)?;
    let may_be = |frequency: &Frequency| {
        points.len() >= frequency.cadence().occurrences_min && may_repeat(*frequency, &gaps, usual)
    };
    // Most groups are visits every few days and end here.
    let mut candidates = Frequency::ALL.iter().copied().filter(may_be).peekable();
    candidates.peek()?;
    let amounts: Vec<i64> = points.iter().map(|it| it.amount_minor).collect();
    let class = AmountClass::of(&amounts);
    if traits.nature == Nature::Habitual && class > AmountClass::MostlyFixed {
        return None;
    }
    let bound = bound(points.len(), class, traits, rigour);
    let mut best: Option<Fit> = None;
    for fit in candidates.filter_map(|frequency| Fit::of(points, frequency)) {
        let is_better = best.as_ref().is_none_or(|it: &Fit| fit.chance < it.chance);
        if is_better
            && fit.chance.is_at_most(bound)
            && is_steady(&fit, class, traits)
            && is_plausible(&fit, class, traits)
            && (points.len() > 2 || is_pair(&fit, &amounts, traits))
        {
            best = Some(fit);
        }
    }
    let fit = best?;
    Some(Verdict { points: points.to_vec(), fit, class, confidence: Confidence::Mature })
}

/// Whether the usual gap, in half days, is about a period, and nearly all gaps are about one or
/// several. Where 85 of 100 payments are on time, both ends of 70 gaps are: what fails this cannot
/// fit.
fn may_repeat(frequency: Frequency, gaps: &[i64], usual: i64) -> bool {
    let cadence = frequency.cadence();
    let period = cadence.period_hundredths;
    // Weekends and the lengths of months move either end by two days.
    let slack = (2 * cadence.tolerance_days + 4) * 100;
    let is_about = |gap: &&i64| {
        let beyond = (**gap * 100).rem_euclid(period);
        beyond <= slack || period - beyond <= slack
    };
    usual * 500 >= period * 6
        && usual * 500 <= period * 15
        && gaps.iter().filter(is_about).count() * 10 >= gaps.len() * 6
}

fn bound(count: usize, class: AmountClass, traits: Traits, rigour: Rigour) -> u32 {
    match (traits.nature, class) {
        (Nature::Habitual, _) => RARE_AMONG_MANY,
        (Nature::Bill, _) if rigour == Rigour::Strict => RARE,
        (_, _) if rigour == Rigour::Strict => RARE_AMONG_MANY,
        (Nature::Bill, class) if class.is_regular() => RARE_WITH_REGULAR_AMOUNTS,
        (Nature::Bill, _) => RARE,
        (Nature::Other, AmountClass::Fixed) => RARE_WITH_REGULAR_AMOUNTS,
        // Of three amounts two are easily alike.
        (Nature::Other, AmountClass::Stepped | AmountClass::MostlyFixed) if count > 3 => {
            RARE_WITH_REGULAR_AMOUNTS
        }
        (Nature::Other, AmountClass::Stepped | AmountClass::MostlyFixed) => RARE,
        // Wages by the hour vary, other money in too; what one spends at will varies most.
        (Nature::Other, _) => {
            if traits.inflow {
                RARE
            } else {
                RARE_AMONG_MANY
            }
        }
    }
}

/// Twice the median, so that it is whole.
fn twice_median(gaps: &[i64]) -> Option<i64> {
    let mut gaps = gaps.to_vec();
    let last = gaps.len().checked_sub(1)?;
    let high = *gaps.select_nth_unstable(last.div_ceil(2)).1;
    let low = *gaps.select_nth_unstable(last / 2).1;
    Some(low + high)
}

/// Slots mostly filled, seldom twice, and mostly on time.
fn is_steady(fit: &Fit, class: AmountClass, traits: Traits) -> bool {
    let count = fit.places.len() as i64;
    // A service that lets people skip keeps its price and its day.
    let may_skip = class.is_contractual() && fit.off_median == 0 && count >= 6;
    let covers_min = match traits.nature {
        Nature::Bill if may_skip => 60,
        Nature::Bill => 65,
        Nature::Habitual | Nature::Other => 75,
    };
    fit.covers(covers_min)
        && (count - fit.filled) * 10 <= count
        && fit.on_time as i64 * 100 >= count * 85
        && !leaves_out_a_season(fit)
        && !(fit.wanders && traits.nature != Nature::Bill)
}

/// Whether the same quarter or half of every year is missing: then these are yearly payments that
/// happen to stand a quarter apart.
fn leaves_out_a_season(fit: &Fit) -> bool {
    let Step::Months(every @ (3 | 6)) = fit.schedule.frequency.step() else { return false };
    let a_year = 12 / every;
    let mut paid = [false; 4];
    for place in &fit.places {
        paid[place.slot.rem_euclid(a_year) as usize] = true;
    }
    // Two years show every season twice.
    fit.spanned >= 2 * a_year && paid.iter().take(a_year as usize).any(|it| !it)
}

/// Whether such amounts at such times are an agreement rather than a habit.
fn is_plausible(fit: &Fit, class: AmountClass, traits: Traits) -> bool {
    let frequency = fit.schedule.frequency;
    let count = fit.places.len();
    if traits.nature == Nature::Habitual {
        let close = fit.places.iter().filter(|it| it.off <= 2).count();
        return frequency != Frequency::Weekly
            && fit.off_median <= 1
            && close * 10 >= count * 9
            && fit.covers(90)
            && count >= 4;
    }
    let is_bill = traits.nature == Nature::Bill;
    // Wages by the hour vary from week to week; other weekly payments that vary are visits.
    let is_visit = frequency == Frequency::Weekly && !traits.inflow && !is_bill;
    let (near, exact) = if is_bill { (3, 1) } else { (1, 0) };
    match class {
        AmountClass::Fixed => true,
        AmountClass::Stepped | AmountClass::MostlyFixed | AmountClass::Near => {
            fit.off_median <= near
        }
        AmountClass::Variable => {
            fit.off_median <= near && fit.covers(if is_bill { 65 } else { 80 }) && !is_visit
        }
        AmountClass::Erratic => {
            fit.off_median <= exact && fit.covers(90) && count >= 5 && !is_visit
        }
    }
}

/// Two payments a year apart are a stream only if day and amount agree, and more closely where
/// nothing else speaks for it.
fn is_pair(fit: &Fit, amounts: &[i64], traits: Traits) -> bool {
    match traits.nature {
        Nature::Bill => fit.raw_total <= 5 && are_within(amounts, 25),
        Nature::Other => fit.raw_total <= 3 && are_within(amounts, 15),
        Nature::Habitual => false,
    }
}

/// Too few payments for a verdict, but of a kind that is always agreed upon: a second equal one
/// where it would be due is enough.
pub(super) fn early(points: &[Point], traits: Traits, percent: i128) -> Option<Verdict> {
    let amounts: Vec<i64> = points.iter().map(|it| it.amount_minor).collect();
    if traits.nature != Nature::Bill || points.len() < 2 || !are_within(&amounts, percent) {
        return None;
    }
    let gaps: Vec<i64> = points.windows(2).map(|it| it[1].at.day - it[0].at.day).collect();
    let usual = twice_median(&gaps)?;
    let is_early = |frequency: &Frequency| {
        points.len() < frequency.cadence().occurrences_min && may_repeat(*frequency, &gaps, usual)
    };
    let is_due = |fit: &Fit| {
        let tolerance = fit.schedule.frequency.cadence().tolerance_days;
        fit.spanned == points.len() as i64
            && fit.filled == fit.spanned
            && fit.off_total <= (tolerance + 1) / 2
    };
    let fit = Frequency::ALL
        .iter()
        .filter(|it| is_early(it))
        .filter_map(|it| Fit::of(points, *it))
        .filter(is_due)
        .min_by_key(|it| it.off_total)?;
    let class = AmountClass::of(&amounts);
    Some(Verdict { points: points.to_vec(), fit, class, confidence: Confidence::Early })
}
