//! QIF dates: three numbers, in the order of the country where the program was sold.

use base::Date;

use crate::files::{DateOrder, ParseOptions};
use crate::plausibility::is_plausible_date;

/// The three numbers of a date, as written.
struct Parts<'a> {
    numbers: [&'a str; 3],
    /// Quicken writes `1/2'04` for years from 2000 on.
    is_recent: bool,
    /// Written with dots, which means that the day is first.
    is_dotted: bool,
}

fn parts(text: &str) -> Option<Parts<'_>> {
    let text = without_time(text);
    if text.len() >= 8 && text.bytes().all(|it| it.is_ascii_digit()) {
        let numbers = [text.get(..4)?, text.get(4..6)?, text.get(6..8)?];
        return Some(Parts { numbers, is_recent: false, is_dotted: false });
    }
    let mut numbers = text.split(['/', '-', '.', '\'']).map(str::trim);
    let parts = Parts {
        numbers: [numbers.next()?, numbers.next()?, numbers.next()?],
        is_recent: text.contains('\''),
        is_dotted: text.contains('.'),
    };
    let is_number =
        |it: &&str| (1..=4).contains(&it.len()) && it.bytes().all(|digit| digit.is_ascii_digit());
    let fits = numbers.next().is_none() && parts.numbers.iter().all(is_number);
    fits.then_some(parts)
}

/// The date without a time and a zone behind it, as in `20091224120000[0:GMT]` or `12/24/2009 12:00`.
fn without_time(text: &str) -> &str {
    let text = text.split(['T', '[']).next().unwrap_or_default();
    let date = match text.find(':') {
        Some(colon) => text[..colon].trim_end_matches(|it: char| it.is_ascii_digit()),
        None => text,
    };
    date.trim()
}

impl Parts<'_> {
    fn begins_with_year(&self) -> bool {
        self.numbers[0].len() == 4
    }
}

/// Evidence for the date order from all dates of a file.
#[derive(Debug, Default)]
pub(super) struct Evidence {
    day_first: usize,
    month_first: usize,
    /// Dates that would be another day in the other order.
    open: usize,
    open_dotted: usize,
}

impl Evidence {
    pub(super) fn note(&mut self, text: &str) {
        let Some(parts) = parts(text).filter(|it| !it.begins_with_year()) else { return };
        let [first, second, _] = parts.numbers.map(|it| it.parse::<u16>().unwrap_or(0));
        match (first, second) {
            (13.., 1..=12) => self.day_first += 1,
            (1..=12, 13..) => self.month_first += 1,
            (1..=12, 1..=12) if first != second => {
                self.open += 1;
                self.open_dotted += usize::from(parts.is_dotted);
            }
            _ => {}
        }
    }

    /// The order, and whether it is ambiguous.
    pub(super) fn order(&self, options: &ParseOptions) -> (DateOrder, bool) {
        match (self.day_first, self.month_first) {
            (1.., 0) => return (DateOrder::DayFirst, false),
            (0, 1..) => return (DateOrder::MonthFirst, false),
            _ => {}
        }
        if let Some(order) = options.dates {
            return (order, false);
        }
        let is_dotted = self.open > 0 && self.open == self.open_dotted;
        match self.day_first.cmp(&self.month_first) {
            std::cmp::Ordering::Greater => (DateOrder::DayFirst, true),
            std::cmp::Ordering::Equal if is_dotted && self.day_first == 0 => {
                (DateOrder::DayFirst, false)
            }
            _ => (DateOrder::MonthFirst, self.open > 0),
        }
    }
}

pub(super) fn date(text: &str, order: DateOrder, options: &ParseOptions) -> Option<Date> {
    let parts = parts(text)?;
    let [first, second, third] = parts.numbers;
    let (year, month, day) = match order {
        _ if parts.begins_with_year() => (first, second, third),
        DateOrder::DayFirst => (third, second, first),
        DateOrder::MonthFirst => (third, first, second),
    };
    let (digits, year) = (year.len(), year.parse::<i16>().ok()?);
    let year = match digits {
        4 => year,
        3 => return None,
        _ if parts.is_recent => 2000 + year,
        // At most one year in the future; otherwise the previous century is meant.
        _ if 2000 + year > options.today.year() + 1 => 1900 + year,
        _ => 2000 + year,
    };
    Date::new(year, month.parse().ok()?, day.parse().ok()?).ok().filter(|it| is_plausible_date(*it))
}
