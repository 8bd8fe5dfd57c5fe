//! Dividends of the demo market: a few securities pay the same amount every quarter.

use base::{Date, Fixed9};

use super::super::calendar::session_on;
use super::super::{ActionTerms, CorporateAction};

struct Payer {
    symbol: &'static str,
    each_cents: i64,
    /// The month of the first payment in a year; the others follow three months apart.
    first_month: i8,
    /// The ex-date is the first session on or after this day.
    day: i8,
}

const fn payer(symbol: &'static str, each_cents: i64, first_month: i8, day: i8) -> Payer {
    Payer { symbol, each_cents, first_month, day }
}

const PAYERS: [Payer; 10] = [
    payer("AAPL", 27, 2, 9),
    payer("JNJ", 134, 2, 24),
    payer("JPM", 150, 1, 5),
    payer("KO", 53, 3, 13),
    payer("MSFT", 91, 2, 19),
    payer("PG", 106, 1, 23),
    payer("SCHD", 26, 3, 25),
    payer("SPY", 184, 3, 20),
    payer("VTI", 95, 3, 27),
    payer("XOM", 100, 2, 12),
];

/// From the ex-date to the payment date.
const DAYS_UNTIL_PAID: i64 = 21;

/// The dividends of a range of dates, sorted by date and symbol.
pub(super) fn between(symbols: &[String], from: Date, to: Date) -> Vec<CorporateAction> {
    let requested = PAYERS.iter().filter(|it| symbols.iter().any(|symbol| symbol == it.symbol));
    let mut found = Vec::new();
    for payer in requested {
        for year in from.year()..=to.year() {
            let quarters = (0..4).filter_map(|it| payer.dividend(year, payer.first_month + it * 3));
            found.extend(quarters.filter(|it| from <= it.ex_on && it.ex_on <= to));
        }
    }
    found.sort_by(|a, b| (a.ex_on, &a.symbol).cmp(&(b.ex_on, &b.symbol)));
    found
}

impl Payer {
    fn dividend(&self, year: i16, month: i8) -> Option<CorporateAction> {
        let ex_on = session_from(Date::new(year, month, self.day).ok()?)?;
        let due_on = ex_on.checked_add(jiff::Span::new().days(DAYS_UNTIL_PAID)).ok()?;
        let each = Fixed9::from_billionths(i128::from(self.each_cents) * 10_000_000);
        let terms = ActionTerms::Dividend { each, pay_on: session_from(due_on)? };
        Some(CorporateAction { symbol: self.symbol.to_owned(), ex_on, terms })
    }
}

/// The first day with a session, from this day on.
fn session_from(date: Date) -> Option<Date> {
    let mut days = std::iter::successors(Some(date), |day| day.tomorrow().ok());
    days.find(|it| session_on(*it).is_some())
}
