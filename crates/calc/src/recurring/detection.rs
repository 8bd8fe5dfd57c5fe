//! Decides whether days and amounts together form one stream.

use super::amounts::{AmountClass, are_within};
use super::fit::Fit;
use super::schedule::{Frequency, Step};
use super::{Confidence, PaymentKind, Point};

/// Properties of a whole group, known before its dates are examined.
#[derive(Debug, Clone, Copy)]
pub(super) struct GroupTraits {
    pub(super) inflow: bool,
    pub(super) payment_kind: PaymentKind,
}

/// Points that form one stream, with the evidence.
pub(super) struct DetectedStream {
    /// Oldest first.
    pub(super) points: Vec<Point>,
    pub(super) fit: Fit,
    pub(super) class: AmountClass,
    pub(super) confidence: Confidence,
}

/// How rarely random days may look as regular, per thousand. Regular amounts are additional evidence, unless the
/// points were selected by amount.
const RARE: u32 = 10;
const RARE_WITH_REGULAR_AMOUNTS: u32 = 100;
const RARE_AMONG_MANY: u32 = 1;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Strictness {
    Usual,
    /// For points selected from many, among which something always looks regular.
    Strict,
}

/// The most convincing frequency of points in date order, if any is.
pub(super) fn detect_stream(
    points: &[Point],
    traits: GroupTraits,
    strictness: Strictness,
) -> Option<DetectedStream> {
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
    if traits.payment_kind == PaymentKind::Habit && class > AmountClass::MostlyFixed {
        return None;
    }
    let bound = bound(points.len(), class, traits, strictness);
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
    Some(DetectedStream { points: points.to_vec(), fit, class, confidence: Confidence::Mature })
}

/// Whether the usual gap, in half days, is about a period, and nearly all gaps are about one or several periods. If
/// 85 of 100 payments are on time, both ends of 70 gaps are: groups that fail this cannot fit.
fn may_repeat(frequency: Frequency, gaps: &[i64], usual: i64) -> bool {
    let cadence = frequency.cadence();
    let period = cadence.period_hundredths;
    // Weekends and month lengths move either end by two days.
    let slack = (2 * cadence.tolerance_days + 4) * 100;
    let is_about = |gap: &&i64| {
        let beyond = (**gap * 100).rem_euclid(period);
        beyond <= slack || period - beyond <= slack
    };
    usual * 500 >= period * 6
        && usual * 500 <= period * 15
        && gaps.iter().filter(is_about).count() * 10 >= gaps.len() * 6
}

fn bound(count: usize, class: AmountClass, traits: GroupTraits, strictness: Strictness) -> u32 {
    match (traits.payment_kind, class) {
        (PaymentKind::Habit | PaymentKind::Cash, _) => RARE_AMONG_MANY,
        (PaymentKind::Bill, _) if strictness == Strictness::Strict => RARE,
        (_, _) if strictness == Strictness::Strict => RARE_AMONG_MANY,
        (PaymentKind::Bill, class) if class.is_regular() => RARE_WITH_REGULAR_AMOUNTS,
        (PaymentKind::Bill, _) => RARE,
        (PaymentKind::Other, AmountClass::Fixed) => RARE_WITH_REGULAR_AMOUNTS,
        // Two of three amounts are often alike by chance.
        (PaymentKind::Other, AmountClass::Stepped | AmountClass::MostlyFixed) if count > 3 => {
            RARE_WITH_REGULAR_AMOUNTS
        }
        (PaymentKind::Other, AmountClass::Stepped | AmountClass::MostlyFixed) => RARE,
        // Hourly wages vary, as does other income; discretionary spending varies most.
        (PaymentKind::Other, _) => {
            if traits.inflow {
                RARE
            } else {
                RARE_AMONG_MANY
            }
        }
    }
}

/// Twice the median, so that it is an integer.
fn twice_median(gaps: &[i64]) -> Option<i64> {
    let mut gaps = gaps.to_vec();
    let last = gaps.len().checked_sub(1)?;
    let high = *gaps.select_nth_unstable(last.div_ceil(2)).1;
    let low = *gaps.select_nth_unstable(last / 2).1;
    Some(low + high)
}

/// Whether slots are mostly filled, seldom twice, and mostly on time.
fn is_steady(fit: &Fit, class: AmountClass, traits: GroupTraits) -> bool {
    let count = fit.offsets.len() as i64;
    // A service that can be skipped keeps its price and its day.
    let may_skip = class.is_contractual() && fit.off_median == 0 && count >= 6;
    let covers_min = match traits.payment_kind {
        PaymentKind::Bill if may_skip => 60,
        PaymentKind::Bill => 65,
        PaymentKind::Habit | PaymentKind::Cash | PaymentKind::Other => 75,
    };
    fit.covers(covers_min)
        && (count - fit.filled) * 10 <= count
        && fit.on_time as i64 * 100 >= count * 85
        && !leaves_out_a_season(fit)
        && !(fit.drifts && traits.payment_kind != PaymentKind::Bill)
}

/// Whether the same quarter or half of every year is missing: then these are yearly payments that happen to be a
/// quarter apart.
fn leaves_out_a_season(fit: &Fit) -> bool {
    let Step::Months(every @ (3 | 6)) = fit.schedule.frequency.step() else { return false };
    let a_year = 12 / every;
    let mut paid = [false; 4];
    for offset in &fit.offsets {
        paid[offset.slot.rem_euclid(a_year) as usize] = true;
    }
    // Two years show every season twice.
    fit.spanned >= 2 * a_year && paid.iter().take(a_year as usize).any(|it| !it)
}

/// Whether amounts of this class in this fit are a contract rather than a habit.
fn is_plausible(fit: &Fit, class: AmountClass, traits: GroupTraits) -> bool {
    let frequency = fit.schedule.frequency;
    let count = fit.offsets.len();
    if traits.payment_kind == PaymentKind::Habit {
        let close = fit.offsets.iter().filter(|it| it.off <= 2).count();
        return frequency != Frequency::Weekly
            && fit.off_median <= 1
            && close * 10 >= count * 9
            && fit.covers(90)
            && count >= 4;
    }
    let is_bill = traits.payment_kind == PaymentKind::Bill;
    // Hourly wages vary from week to week; other weekly payments that vary are visits.
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

/// Whether two payments a year apart are a stream: only if day and amount agree, and more closely without other
/// evidence.
fn is_pair(fit: &Fit, amounts: &[i64], traits: GroupTraits) -> bool {
    match traits.payment_kind {
        PaymentKind::Bill => fit.raw_total <= 5 && are_within(amounts, 25),
        PaymentKind::Other => fit.raw_total <= 3 && are_within(amounts, 15),
        PaymentKind::Habit | PaymentKind::Cash => false,
    }
}

/// A bill that comes about every month, however much its amount changes and its day moves: gas, water, electricity.
pub(super) fn monthly_bill(points: &[Point], traits: GroupTraits) -> Option<DetectedStream> {
    const FEWEST: usize = 6;
    if traits.payment_kind != PaymentKind::Bill || traits.inflow || points.len() < FEWEST {
        return None;
    }
    let fit = Fit::by_intervals(points).filter(|it| it.covers(75))?;
    let amounts: Vec<i64> = points.iter().map(|it| it.amount_minor).collect();
    let class = AmountClass::of(&amounts);
    Some(DetectedStream { points: points.to_vec(), fit, class, confidence: Confidence::Mature })
}

/// An early stream from too few payments for the full test: for bills, a second equal payment on its due day is
/// enough.
pub(super) fn early(
    points: &[Point],
    traits: GroupTraits,
    percent: i128,
) -> Option<DetectedStream> {
    let amounts: Vec<i64> = points.iter().map(|it| it.amount_minor).collect();
    if traits.payment_kind != PaymentKind::Bill
        || points.len() < 2
        || !are_within(&amounts, percent)
    {
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
    Some(DetectedStream { points: points.to_vec(), fit, class, confidence: Confidence::Early })
}
