//! Measures how well payment days follow a frequency, and how likely random days would fit as well.

#![expect(clippy::float_arithmetic, reason = "a probability is no money")]

use super::Point;
use super::schedule::{CalendarDay, Frequency, Phase, Roll, Schedule, Step};

/// Offsets in days at which phases are tried around the payments: weekends move them.
const SHIFTS: std::ops::RangeInclusive<i64> = -2..=2;
/// The number of payments that suggest phases, and that decide between the finalists. More would hardly change the
/// result, and each phase costs a pass over them.
const SUGGESTING_MAX: usize = 8;
const FINALISTS: usize = 6;
const DECIDING_MAX: usize = 64;

/// Payments that decide the day of a schedule counted by intervals, how far an interval may be from whole months, and
/// how many months in a row may be skipped.
const RECENT: usize = 6;
const REGULAR_GAP_DAYS: i64 = 8;
const MONTHS_SKIPPED_MAX: i64 = 2;

pub(super) struct Fit {
    pub(super) schedule: Schedule,
    /// The slot of each point and its deviation in days, in the order of the points.
    pub(super) offsets: Vec<SlotOffset>,
    pub(super) filled: i64,
    /// From the first filled slot to the last.
    pub(super) spanned: i64,
    pub(super) on_time: usize,
    pub(super) off_median: i64,
    pub(super) off_total: i64,
    /// Like `off_total`, without allowing for weekends.
    pub(super) raw_total: i64,
    /// Whether payments follow the last payment rather than the calendar.
    pub(super) drifts: bool,
    pub(super) chance: Probability,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct SlotOffset {
    pub(super) slot: i64,
    pub(super) off: i64,
}

impl Fit {
    /// The best fit of the points (at least one, in date order), unless it is clearly bad.
    pub(super) fn of(points: &[Point], frequency: Frequency) -> Option<Fit> {
        let schedule = best_schedule(points, frequency)?;
        let cadence = frequency.cadence();
        let mut chance = Probability::CERTAIN;
        let mut best_width = i64::MAX;
        let mut raws = Vec::with_capacity(points.len());
        let offset_of = |point: &Point| {
            let slot = schedule.nearest(&point.at);
            let miss = schedule.miss(slot, &point.at);
            raws.push(miss.raw);
            // All but the best point count, because one point fits any schedule.
            let width = miss.days_no_worse;
            if best_width == i64::MAX {
                best_width = width;
            } else {
                chance.times(best_width.max(width) as f64 * 100.0, cadence.period_hundredths);
                best_width = best_width.min(width);
            }
            SlotOffset { slot, off: miss.off }
        };
        let offsets: Vec<SlotOffset> = points.iter().map(offset_of).collect();
        // Nearest slots never decrease as days increase.
        let first = offsets.first().map_or(0, |it| it.slot);
        let last = offsets.last().map_or(0, |it| it.slot);
        let mut offs: Vec<i64> = offsets.iter().map(|it| it.off).collect();
        let middle = offs.len() / 2;
        let off_median = *offs.select_nth_unstable(middle).1;
        // Corrects for the number of frequencies tried; only a year has no neighbors of similar length.
        if frequency != Frequency::Annually {
            chance.mantissa *= Frequency::ALL.len() as f64;
        }
        Some(Fit {
            schedule,
            filled: 1 + offsets.windows(2).filter(|it| it[0].slot != it[1].slot).count() as i64,
            spanned: last - first + 1,
            on_time: offsets.iter().filter(|it| it.off <= cadence.tolerance_days).count(),
            off_median,
            off_total: offsets.iter().map(|it| it.off).sum(),
            raw_total: raws.iter().map(|it| it.abs()).sum(),
            drifts: drifts(&raws),
            chance,
            offsets,
        })
    }

    /// The monthly fit of payments that follow the last one and not the calendar, such as bills after each meter reading.
    /// The schedule is that of the newest payments, and slots are counted back from it.
    pub(super) fn by_intervals(points: &[Point]) -> Option<Fit> {
        let last = points.last()?;
        let frequency = Frequency::Monthly;
        let recent = &points[points.len().saturating_sub(RECENT)..];
        let schedule = best_schedule(recent, frequency).unwrap_or_else(|| {
            let phase = Phase::Months { every: 1, start: 0, day: last.at.day_of_month() };
            Schedule { frequency, phase, roll: Roll::Stays }
        });
        let mut slot = schedule.nearest(&last.at);
        let mut offsets = vec![SlotOffset { slot, off: 0 }];
        let (mut regular, mut gaps) = (0, 0);
        for pair in points.windows(2).rev() {
            let gap = (pair[1].at.day - pair[0].at.day) * 100;
            let period = frequency.cadence().period_hundredths;
            let months = (gap + period / 2) / period;
            if !(1..=MONTHS_SKIPPED_MAX + 1).contains(&months) {
                return None;
            }
            gaps += 1;
            regular += i32::from((gap - months * period).abs() <= REGULAR_GAP_DAYS * 100);
            slot -= months;
            offsets.push(SlotOffset { slot, off: 0 });
        }
        offsets.reverse();
        let count = points.len() as i64;
        (regular * 10 >= gaps * 9).then(|| Fit {
            schedule,
            filled: count,
            spanned: offsets[offsets.len() - 1].slot - slot + 1,
            on_time: points.len(),
            off_median: 0,
            off_total: 0,
            raw_total: 0,
            drifts: true,
            chance: Probability::CERTAIN,
            offsets,
        })
    }

    pub(super) fn covers(&self, percent: i64) -> bool {
        self.filled * 100 >= self.spanned * percent
    }
}

/// Whether deviations accumulate. A payment due by the calendar deviates independently each time; one due some time
/// after the last carries its deviation on, so deviations change little from one to the next.
fn drifts(raws: &[i64]) -> bool {
    let count = raws.len() as i64;
    let steps = raws.windows(2).map(|it| it[1] - it[0]);
    let moves = steps.clone().filter(|it| *it != 0).count() as i64;
    let mean_times_count: i64 = raws.iter().sum();
    let spread: i64 = raws.iter().map(|it| it * it).sum::<i64>() * count - mean_times_count.pow(2);
    let steps_squared: i64 = steps.map(|it| it * it).sum();
    count >= 6 && moves * 2 >= count && steps_squared * count < spread
}

/// None if at least two in five of the deciding payments are not on time.
fn best_schedule(points: &[Point], frequency: Frequency) -> Option<Schedule> {
    let cost = |schedule: &Schedule, deciding: &[CalendarDay]| {
        let misses = deciding.iter().map(|at| schedule.miss(schedule.nearest(at), at));
        misses.fold((0, 0), |sum, miss| (sum.0 + miss.off, sum.1 + miss.raw.abs()))
    };
    let suggesting = spread(points, SUGGESTING_MAX);
    let mut candidates: Vec<Schedule> = phases(&suggesting, frequency)
        .into_iter()
        .map(|phase| Schedule { frequency, phase, roll: Roll::Stays })
        .collect();
    if candidates.len() > FINALISTS && points.len() > SUGGESTING_MAX {
        candidates.sort_by_cached_key(|it| cost(it, &suggesting));
        candidates.truncate(FINALISTS);
    }
    let deciding = spread(points, DECIDING_MAX);
    let best = candidates.into_iter().min_by_key(|it| cost(it, &deciding))?;
    let tolerance = frequency.cadence().tolerance_days;
    let is_on_time = |at: &&CalendarDay| best.miss(best.nearest(at), at).off <= tolerance;
    let on_time = deciding.iter().filter(is_on_time).count();
    (on_time * 5 > deciding.len() * 3).then_some(best)
}

/// `count_max` of the points, evenly spread.
fn spread(points: &[Point], count_max: usize) -> Vec<CalendarDay> {
    let count = points.len().min(count_max);
    (0..count).map(|index| points[index * points.len() / count].at).collect()
}

fn phases(days: &[CalendarDay], frequency: Frequency) -> Vec<Phase> {
    let every = match frequency.step() {
        Step::Days(every) => {
            let start = days.first().map_or(0, |it| it.day);
            return (start..start + every).map(|start| Phase::Days { every, start }).collect();
        }
        Step::HalfMonths => 1,
        Step::Months(every) => every,
    };
    let mut dates: Vec<(i64, i64)> = Vec::new();
    for (month, day, length) in days.iter().flat_map(|at| SHIFTS.map(|it| at.shifted(it))) {
        let latest = if day == length { 31 } else { day };
        dates.extend((day..=latest).map(|day| (month.rem_euclid(every), day)));
    }
    let mut phases: Vec<Phase> = match frequency.step() {
        Step::HalfMonths => dates.iter().flat_map(|(_, day)| pairs(*day)).collect(),
        _ => dates.into_iter().map(|(start, day)| Phase::Months { every, start, day }).collect(),
    };
    phases.sort_unstable();
    phases.dedup();
    phases
}

/// The semi-monthly phases with this day as their earlier or later one.
fn pairs(day: i64) -> impl Iterator<Item = Phase> {
    let starts = [day, day - 14, day - 15, day - 16].into_iter().filter(|it| (1..=17).contains(it));
    let pair =
        |early: i64| (14..=16).map(move |gap| Phase::HalfMonths { early, late: early + gap });
    starts.flat_map(pair).filter(|it| !matches!(it, Phase::HalfMonths { late: 32.., .. }))
}

/// The probability that random days fit as well: a float with a separate exponent, because long streams are less
/// likely than a float can express.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub(super) struct Probability {
    /// Counts down, so that the derived order is that of the numbers.
    exponent: i64,
    mantissa: f64,
}

impl Probability {
    const CERTAIN: Probability = Probability { exponent: 0, mantissa: 1.0 };
    const SMALL: f64 = 1e-200;

    fn times(&mut self, part: f64, whole: i64) {
        self.mantissa *= (part / whole as f64).min(1.0);
        if self.mantissa < Self::SMALL {
            self.mantissa /= Self::SMALL;
            self.exponent -= 1;
        }
    }

    pub(super) fn is_at_most(self, thousandths: u32) -> bool {
        self.exponent < 0 || self.mantissa <= f64::from(thousandths) / 1000.0
    }
}
