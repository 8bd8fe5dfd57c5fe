//! The period of a benefit that a day belongs to: by the calendar, by the account's anniversary, or by its statement
//! year.

#[cfg(test)]
mod tests;

use base::{Date, date_from_days, days_from_date};

use super::catalog::{Alignment, Benefit, Cadence};

/// Days from the anniversary to the first closing date after it, if the closing day is unknown.
const DAYS_TO_CLOSING: i64 = 30;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cycle {
    pub start: Date,
    /// The last day of the period.
    pub end: Date,
    /// Whether the bounds are estimated, so that they may be some weeks off.
    pub approximate: bool,
    /// The maximum of the period.
    pub amount_minor: i64,
}

impl Cycle {
    pub fn contains(&self, on: Date) -> bool {
        self.start <= on && on <= self.end
    }
}

/// The yearly anniversary of an account's opening.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Anniversary {
    on: Date,
    is_opening: bool,
    closing_day: Option<i8>,
}

impl Anniversary {
    pub fn opened_on(on: Date) -> Anniversary {
        Anniversary { on, is_opening: true, closing_day: None }
    }

    /// Estimated from the day of an annual fee, which is near the anniversary but seldom on it.
    pub fn charged_on(on: Date) -> Anniversary {
        Anniversary { on, is_opening: false, closing_day: None }
    }

    /// Sets the day of the month on which statements close; shorter months close on their last day.
    pub fn with_closing_day(self, day: i8) -> Anniversary {
        Anniversary { closing_day: Some(day.clamp(1, 31)), ..self }
    }

    pub fn day(&self) -> Date {
        self.on
    }

    /// Whether it is the opening date itself, and not estimated from a fee.
    pub fn is_exact(&self) -> bool {
        self.is_opening
    }

    /// The first day of the statement year that begins in the year after this anniversary. The closing day itself
    /// still belongs to the old year, and the first year begins with the opening.
    fn statement_year(&self, year: i64) -> i64 {
        if self.is_opening && i64::from(self.on.year()) == year {
            return days_from_date(self.on);
        }
        let month = year * 12 + i64::from(self.on.month()) - 1;
        let anniversary = day_of(month, self.on.day());
        let Some(closing_day) = self.closing_day else {
            return anniversary + DAYS_TO_CLOSING + 1;
        };
        let this_month = day_of(month, closing_day);
        if this_month > anniversary { this_month + 1 } else { day_of(month + 1, closing_day) + 1 }
    }
}

/// The period of the benefit that a day belongs to. If the anniversary is needed and unknown, calendar years are used
/// and the period is marked approximate. Four-year periods are always approximate, because issuers count them from
/// the last use. A one-time benefit has a single period, from its first valid day to its last.
pub fn cycle(benefit: &Benefit, on: Date, anniversary: Option<Anniversary>) -> Cycle {
    let Some(months) = benefit.cadence.months() else {
        return Cycle {
            start: benefit.valid_from.unwrap_or(Date::constant(1, 1, 1)),
            end: benefit.valid_to.unwrap_or(Date::MAX),
            approximate: false,
            amount_minor: benefit.period_minor(1),
        };
    };
    let own = anniversary.filter(|_| benefit.alignment != Alignment::Calendar);
    let (start, next) = match own {
        Some(own) if benefit.alignment == Alignment::StatementYear => statement_bounds(own, on),
        Some(own) => month_bounds(own.on, months, on),
        None => month_bounds(Date::constant(2000, 1, 1), months, on),
    };
    let guessed = match benefit.alignment {
        Alignment::Calendar => false,
        Alignment::Anniversary => !own.is_some_and(|it| it.is_exact()),
        Alignment::StatementYear => {
            !own.is_some_and(|it| it.is_exact() && it.closing_day.is_some())
        }
    };
    let start = date_from_days(start);
    Cycle {
        start,
        end: date_from_days(next - 1),
        approximate: guessed || benefit.cadence == Cadence::Every4Years,
        amount_minor: benefit.period_minor(start.month()),
    }
}

/// The first day of the period and of the next one, for periods of `months` counted from the anchor. Every start is
/// computed from the anchor's own day, so that a short month does not shift later ones.
fn month_bounds(anchor: Date, months: i64, on: Date) -> (i64, i64) {
    let month_of = |it: Date| i64::from(it.year()) * 12 + i64::from(it.month()) - 1;
    let (day, first) = (days_from_date(on), month_of(anchor));
    let passed = (month_of(on) - first).div_euclid(months);
    let start = |period: i64| day_of(first + period * months, anchor.day());
    let period = if start(passed) <= day { passed } else { passed - 1 };
    (start(period), start(period + 1))
}

fn statement_bounds(anniversary: Anniversary, on: Date) -> (i64, i64) {
    let day = days_from_date(on);
    let mut year = i64::from(on.year());
    // A statement year begins at most two months after its anniversary, so this ends after two steps.
    while anniversary.statement_year(year) > day {
        year -= 1;
    }
    (anniversary.statement_year(year), anniversary.statement_year(year + 1))
}

/// Days since 1970 of a day of a month, or of the month's last day if it is shorter. The month is counted from year
/// zero and may lie outside the range of `Date`.
fn day_of(month: i64, day: i8) -> i64 {
    let (year, month) = (month.div_euclid(12), month.rem_euclid(12) as i8 + 1);
    // The calendar repeats every 400 years, so a distant year is looked up in a near one.
    let near = Date::new((2000 + year.rem_euclid(400)) as i16, month, 1)
        .expect("a first of a month between the years 2000 and 2399");
    let shift = (year - i64::from(near.year())) / 400 * 146_097;
    days_from_date(near) + shift + i64::from(day.clamp(1, near.days_in_month())) - 1
}
