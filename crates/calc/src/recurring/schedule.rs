//! The due dates of a stream: every so many days, or days of the month.

use base::{Date, date_from_days, days_from_date, words};

words!(
    /// Sorted by period, shortest first.
    Frequency {
        Weekly => "weekly",
        Biweekly => "biweekly",
        SemiMonthly => "semi_monthly",
        Monthly => "monthly",
        Quarterly => "quarterly",
        SemiAnnually => "semi_annually",
        Annually => "annually",
    }
);

/// The requirements on the dates of one frequency.
pub(super) struct Cadence {
    pub(super) period_hundredths: i64,
    /// How many days a payment may deviate and still be on time.
    pub(super) tolerance_days: i64,
    pub(super) occurrences_min: usize,
    /// How long after the expected day a stream still counts as active.
    pub(super) grace_days: i64,
}

impl Frequency {
    pub(super) fn cadence(self) -> Cadence {
        let (period_hundredths, tolerance_days, occurrences_min, grace_days) = match self {
            Frequency::Weekly => (700, 1, 4, 3),
            Frequency::Biweekly => (1_400, 2, 3, 5),
            Frequency::SemiMonthly => (1_522, 3, 4, 5),
            Frequency::Monthly => (3_044, 4, 3, 10),
            Frequency::Quarterly => (9_131, 7, 3, 20),
            Frequency::SemiAnnually => (18_263, 10, 3, 30),
            Frequency::Annually => (36_525, 12, 2, 45),
        };
        Cadence { period_hundredths, tolerance_days, occurrences_min, grace_days }
    }

    /// Payments per month as an exact fraction: a year has 365.25 days, so a month has 487/112 weeks.
    pub fn payments_a_month(self) -> (i128, i128) {
        match self {
            Frequency::Weekly => (487, 112),
            Frequency::Biweekly => (487, 224),
            Frequency::SemiMonthly => (2, 1),
            Frequency::Monthly => (1, 1),
            Frequency::Quarterly => (1, 3),
            Frequency::SemiAnnually => (1, 6),
            Frequency::Annually => (1, 12),
        }
    }

    /// The amount per month of a payment of this frequency, rounded half up, saturating at 64 bits.
    pub fn monthly(self, amount_minor: i64) -> i64 {
        let (payments, months) = self.payments_a_month();
        let rounded = (i128::from(amount_minor) * payments * 2 + months).div_euclid(months * 2);
        i64::try_from(rounded).unwrap_or(i64::MAX)
    }

    pub(super) fn step(self) -> Step {
        match self {
            Frequency::Weekly => Step::Days(7),
            Frequency::Biweekly => Step::Days(14),
            Frequency::SemiMonthly => Step::HalfMonths,
            Frequency::Monthly => Step::Months(1),
            Frequency::Quarterly => Step::Months(3),
            Frequency::SemiAnnually => Step::Months(6),
            Frequency::Annually => Step::Months(12),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    Days(i64),
    HalfMonths,
    Months(i64),
}

/// The position of a schedule within its period. Days beyond a month's end mean its last day.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Phase {
    /// Every so many days, counted from this one.
    Days {
        every: i64,
        start: i64,
    },
    /// On this day of every so many months, counted from this one.
    Months {
        every: i64,
        start: i64,
        day: i64,
    },
    HalfMonths {
        early: i64,
        late: i64,
    },
}

/// The day to which a payment on a Saturday or Sunday moves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Roll {
    Stays,
    ToFriday,
    ToMonday,
}

/// The due dates of a stream, as nominal days, before weekends move them. Slots are numbered without bounds in both
/// directions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Schedule {
    pub(super) frequency: Frequency,
    pub(super) phase: Phase,
    pub(super) roll: Roll,
}

impl Schedule {
    /// A schedule that continues from a day as if it were a nominal one, for when only the next day is known.
    pub fn going_on(frequency: Frequency, next: Date) -> Schedule {
        let at = CalendarDay::of(days_from_date(next));
        let day = at.day_of_month();
        let phase = match frequency.step() {
            Step::Days(every) => Phase::Days { every, start: at.day },
            Step::Months(every) => Phase::Months { every, start: at.month, day },
            Step::HalfMonths if day <= 15 => Phase::HalfMonths { early: day, late: day + 15 },
            Step::HalfMonths => Phase::HalfMonths { early: day - 15, late: day },
        };
        Schedule { frequency, phase, roll: Roll::Stays }
    }

    /// The nominal dates from `from` to `to`, both included, oldest first.
    pub fn slots(&self, from: Date, to: Date) -> Vec<Date> {
        let (first, last) = (days_from_date(from), days_from_date(to));
        let mut slot = self.nearest(&CalendarDay::of(first)) - 1;
        let mut dates = Vec::new();
        loop {
            match self.day_of(slot) {
                day if day > last => return dates,
                day if day >= first => dates.push(date_from_days(day)),
                _ => {}
            }
            slot += 1;
        }
    }

    pub(super) fn day_of(&self, slot: i64) -> i64 {
        self.nominal_day(slot, month_start)
    }

    /// The day on which the payment of a slot is expected.
    pub(super) fn expected_day(&self, slot: i64) -> i64 {
        let day = self.day_of(slot);
        let days_into_weekend = weekday(day) - SATURDAY;
        if days_into_weekend < 0 || !self.yields_to_weekends() {
            return day;
        }
        match self.roll {
            Roll::Stays => day,
            Roll::ToFriday => day - 1 - days_into_weekend,
            Roll::ToMonday => day + 2 - days_into_weekend,
        }
    }

    /// The slot with the nearest day; the earlier of two equally near.
    pub(super) fn nearest(&self, at: &CalendarDay) -> i64 {
        let guess = match self.phase {
            Phase::Days { every, start } => (at.day - start).div_euclid(every),
            Phase::Months { every, start, .. } => (at.month - start).div_euclid(every),
            Phase::HalfMonths { early, .. } => at.month * 2 + i64::from(at.day_of_month() > early),
        };
        let nominal_day = |slot: i64| self.nominal_day(slot, |month| at.start_of(month));
        let due = nominal_day(guess);
        let (earlier, later) = if due > at.day {
            ((guess - 1, nominal_day(guess - 1)), (guess, due))
        } else {
            ((guess, due), (guess + 1, nominal_day(guess + 1)))
        };
        if at.day - earlier.1 <= later.1 - at.day { earlier.0 } else { later.0 }
    }

    /// How many days a payment deviates from its slot, and how many calendar days would deviate no more. Around a
    /// weekend slot, Friday to Monday are all on time.
    pub(super) fn miss(&self, slot: i64, at: &CalendarDay) -> Deviation {
        let due = self.nominal_day(slot, |month| at.start_of(month));
        let raw = at.day - due;
        let days_into_weekend = weekday(due) - SATURDAY;
        if days_into_weekend < 0 || !self.yields_to_weekends() {
            return Deviation { off: raw.abs(), raw, days_no_worse: 2 * raw.abs() + 1 };
        }
        let (friday, monday) = (-1 - days_into_weekend, 2 - days_into_weekend);
        let off = (friday - raw).max(raw - monday).max(0);
        // The nominal day itself counts once, as on a weekday; Friday and Monday add to it.
        Deviation { off, raw, days_no_worse: if raw == 0 { 1 } else { 2 * off + 3 } }
    }

    /// Schedules counted in days always have the same weekday, so a shift moved the phase itself.
    fn yields_to_weekends(&self) -> bool {
        !matches!(self.phase, Phase::Days { .. })
    }

    /// The nominal day of a slot. `start_of` returns the first day of a month.
    fn nominal_day(&self, slot: i64, start_of: impl Fn(i64) -> i64) -> i64 {
        let in_month = |month: i64, day: i64| {
            let start = start_of(month);
            start + day.min(start_of(month + 1) - start) - 1
        };
        match self.phase {
            Phase::Days { every, start } => start + slot * every,
            Phase::Months { every, start, day } => in_month(start + slot * every, day),
            Phase::HalfMonths { early, late } => {
                in_month(slot.div_euclid(2), if slot.rem_euclid(2) == 0 { early } else { late })
            }
        }
    }

    /// Whether a slot's nominal day is a Saturday or Sunday from which a payment may move.
    pub(super) fn is_weekend(&self, slot: i64) -> bool {
        self.yields_to_weekends() && weekday(self.day_of(slot)) >= SATURDAY
    }
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Deviation {
    pub(super) off: i64,
    pub(super) raw: i64,
    pub(super) days_no_worse: i64,
}

/// A day with the starts of the surrounding months, which fits need many times.
#[derive(Debug, Clone, Copy)]
pub(super) struct CalendarDay {
    pub(super) day: i64,
    /// Months since the year 0.
    pub(super) month: i64,
    starts: [i64; 4],
}

impl CalendarDay {
    pub(super) fn of(day: i64) -> CalendarDay {
        let date = date_from_days(day);
        let month = i64::from(date.year()) * 12 + i64::from(date.month()) - 1;
        CalendarDay { day, month, starts: [-1, 0, 1, 2].map(|it| month_start(month + it)) }
    }

    /// Another day of the same month, without computing the month starts again.
    pub(super) fn in_same_month(&self, day: i64) -> Option<CalendarDay> {
        let is_same = (self.starts[1]..self.starts[2]).contains(&day);
        is_same.then_some(CalendarDay { day, ..*self })
    }

    pub(super) fn day_of_month(&self) -> i64 {
        self.day - self.starts[1] + 1
    }

    /// The month, day of the month, and length of the month `days` later, at most a month.
    pub(super) fn shifted(&self, days: i64) -> (i64, i64, i64) {
        let day = self.day + days;
        let index = self.starts.iter().rposition(|it| *it <= day).unwrap_or(0).min(2);
        let (start, next) = (self.starts[index], self.starts[index + 1]);
        (self.month - 1 + index as i64, day - start + 1, next - start)
    }

    fn start_of(&self, month: i64) -> i64 {
        let index = usize::try_from(month - self.month + 1).ok();
        match index.and_then(|it| self.starts.get(it)) {
            Some(start) => *start,
            None => month_start(month),
        }
    }
}

/// The first day of a month, also beyond the range of `Date`: the calendar repeats every 400 years.
fn month_start(month: i64) -> i64 {
    const MONTHS: i64 = 4_800;
    const DAYS: i64 = 146_097;
    const YEAR_2000: i64 = 24_000;
    let since = month - YEAR_2000;
    let within = since.rem_euclid(MONTHS);
    let (year, of_year) = (2000 + within / 12, within % 12 + 1);
    let date = Date::constant(year as i16, of_year as i8, 1);
    days_from_date(date) + since.div_euclid(MONTHS) * DAYS
}

const SATURDAY: i64 = 5;

/// Monday is zero.
fn weekday(day: i64) -> i64 {
    (day + 3).rem_euclid(7)
}
