//! The months that an analysis covers.

use base::{Date, date_from_days, days_from_date};

use crate::ledger::Ledger;

const MONTHS_MAX: i64 = 12;
const TRAILING_DAYS: i64 = 30;

/// The window of an analysis: complete calendar months before the current one, at most twelve. If there is none yet,
/// the last thirty days stand for one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Window {
    pub start: Date,
    pub end: Date,
    pub months: i64,
    /// Whether the months are complete calendar months.
    pub complete: bool,
}

impl Window {
    pub fn of(ledger: &Ledger) -> Window {
        let end = month_of(ledger.as_of) - 1;
        // A month is complete if the first entry lies on its first day or before.
        let first = ledger.first_on().map(|it| month_of(it) + i64::from(it.day() > 1));
        match first {
            Some(first) if first <= end => {
                let start = first.max(end - MONTHS_MAX + 1);
                Window {
                    start: first_day(start),
                    end: date_from_days(days_from_date(first_day(end + 1)) - 1),
                    months: end - start + 1,
                    complete: true,
                }
            }
            _ => Window {
                start: date_from_days(days_from_date(ledger.as_of) - TRAILING_DAYS + 1),
                end: ledger.as_of,
                months: 1,
                complete: false,
            },
        }
    }

    pub fn contains(&self, on: Date) -> bool {
        self.start <= on && on <= self.end
    }

    /// The index of the month that a day lies in.
    pub(super) fn month_index(&self, on: Date) -> Option<usize> {
        let index = if self.complete { month_of(on) - month_of(self.start) } else { 0 };
        usize::try_from(index).ok().filter(|_| self.contains(on))
    }

    /// The first and last day of each month, oldest first.
    pub(super) fn spans(&self) -> Vec<(Date, Date)> {
        if !self.complete {
            return vec![(self.start, self.end)];
        }
        let start = month_of(self.start);
        let last = |month: i64| date_from_days(days_from_date(first_day(month + 1)) - 1);
        (start..start + self.months).map(|it| (first_day(it), last(it))).collect()
    }
}

/// Months since year zero, so that they can be subtracted.
pub(crate) fn month_of(on: Date) -> i64 {
    i64::from(on.year()) * 12 + i64::from(on.month()) - 1
}

fn first_day(month: i64) -> Date {
    let (year, month) = (month.div_euclid(12) as i16, month.rem_euclid(12) as i8 + 1);
    Date::new(year, month, 1).unwrap_or(Date::MAX)
}
