//! How well days follow a frequency, and how likely chance would have done as well.

#![expect(clippy::float_arithmetic, reason = "a probability is no money")]

use super::Point;
use super::schedule::{CalendarDay, Frequency, Phase, Roll, Schedule, Step};

/// Days by which a phase is looked for around the payments themselves: a weekend moves them.
const SHIFTS: std::ops::RangeInclusive<i64> = -2..=2;
/// So many payments suggest phases and choose the finalists, and so many decide between those. More
/// would hardly change the answer, and a phase costs a look at each.
const SUGGESTING_MAX: usize = 8;
const FINALISTS: usize = 6;
const DECIDING_MAX: usize = 64;

pub(super) struct Fit {
    pub(super) schedule: Schedule,
    /// The slot of each point and how many days it is off, in the order of the points.
    pub(super) places: Vec<Place>,
    pub(super) filled: i64,
    /// From the first slot filled to the last.
    pub(super) spanned: i64,
    pub(super) on_time: usize,
    pub(super) off_median: i64,
    pub(super) off_total: i64,
    /// The same without forgiving weekends.
    pub(super) raw_total: i64,
    /// Whether payments follow the last payment rather than the calendar.
    pub(super) wanders: bool,
    pub(super) chance: Chance,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    pub(super) slot: i64,
    pub(super) off: i64,
}

impl Fit {
    /// The best fit of points, at least one, oldest first, unless it is plainly bad.
    pub(super) fn of(points: &[Point], frequency: Frequency) -> Option<Fit> {
        let schedule = best_schedule(points, frequency)?;
        let cadence = frequency.cadence();
        let mut chance = Chance::CERTAIN;
        let mut best_width = i64::MAX;
        let mut raws = Vec::with_capacity(points.len());
        let place = |point: &Point| {
            let slot = schedule.nearest(&point.at);
            let miss = schedule.miss(slot, &point.at);
            raws.push(miss.raw);
            // All but the best point count: one point fits any schedule.
            let width = miss.days_no_worse;
            if best_width == i64::MAX {
                best_width = width;
            } else {
                chance.times(best_width.max(width) as f64 * 100.0, cadence.period_hundredths);
                best_width = best_width.min(width);
            }
            Place { slot, off: miss.off }
        };
        let places: Vec<Place> = points.iter().map(place).collect();
        // Nearest slots never fall as days rise.
        let first = places.first().map_or(0, |it| it.slot);
        let last = places.last().map_or(0, |it| it.slot);
        let mut offs: Vec<i64> = places.iter().map(|it| it.off).collect();
        let middle = offs.len() / 2;
        let off_median = *offs.select_nth_unstable(middle).1;
        // So many frequencies are tried, except that nothing else is as long as a year.
        if frequency != Frequency::Annually {
            chance.mantissa *= Frequency::ALL.len() as f64;
        }
        Some(Fit {
            schedule,
            filled: 1 + places.windows(2).filter(|it| it[0].slot != it[1].slot).count() as i64,
            spanned: last - first + 1,
            on_time: places.iter().filter(|it| it.off <= cadence.tolerance_days).count(),
            off_median,
            off_total: places.iter().map(|it| it.off).sum(),
            raw_total: raws.iter().map(|it| it.abs()).sum(),
            wanders: wanders(&raws),
            chance,
            places,
        })
    }

    pub(super) fn covers(&self, percent: i64) -> bool {
        self.filled * 100 >= self.spanned * percent
    }
}

/// What is due by the calendar misses its day anew each time; what is due some time after the last
/// visit carries its misses on, so that they change little from one to the next.
fn wanders(raws: &[i64]) -> bool {
    let count = raws.len() as i64;
    let steps = raws.windows(2).map(|it| it[1] - it[0]);
    let moves = steps.clone().filter(|it| *it != 0).count() as i64;
    let mean_times_count: i64 = raws.iter().sum();
    let spread: i64 = raws.iter().map(|it| it * it).sum::<i64>() * count - mean_times_count.pow(2);
    let steps_squared: i64 = steps.map(|it| it * it).sum();
    count >= 6 && moves * 2 >= count && steps_squared * count < spread
}

/// None when of the payments that decide two in five or more are not on time.
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

/// So many of the points, evenly spread.
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

/// The half-monthly phases that have this day as their earlier or later.
fn pairs(day: i64) -> impl Iterator<Item = Phase> {
    let starts = [day, day - 14, day - 15, day - 16].into_iter().filter(|it| (1..=17).contains(it));
    let pair =
        |early: i64| (14..=16).map(move |gap| Phase::HalfMonths { early, late: early + gap });
    starts.flat_map(pair).filter(|it| !matches!(it, Phase::HalfMonths { late: 32.., .. }))
}

/// How likely random days would fit as well: a float with an exponent of its own, because long
/// streams are less likely than a float can say.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub(super) struct Chance {
    /// Counts down, so that the derived order is that of the numbers.
    exponent: i64,
    mantissa: f64,
}

impl Chance {
    const CERTAIN: Chance = Chance { exponent: 0, mantissa: 1.0 };
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
