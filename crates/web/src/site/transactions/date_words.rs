//! Dates in the words of a search: "coffee last month", "rent in october", "2025".

use base::{Date, date_from_days, days_from_date};
use jiff::ToSpan as _;

const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

/// The first and the last day.
type Days = (Date, Date);

/// Splits a search into its text without the words for a date, and the days that they mean. None if there are no such
/// words.
pub(super) fn split(text: &str, today: Date) -> Option<(String, Days)> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let lower: Vec<String> = words.iter().map(|it| it.to_lowercase()).collect();
    for start in 0..words.len() {
        // Longer phrases first: "last 30 days" before "last".
        for length in (1..=3.min(words.len() - start)).rev() {
            let phrase = lower[start..start + length].join(" ");
            if let Some(days) = days_of(&phrase, today) {
                let rest: Vec<&str> =
                    words[..start].iter().chain(&words[start + length..]).copied().collect();
                return Some((rest.join(" "), days));
            }
        }
    }
    None
}

fn days_of(phrase: &str, today: Date) -> Option<Days> {
    let month = today.first_of_month();
    let quarter = month.saturating_sub(i64::from((month.month() - 1) % 3).months());
    let monday =
        date_from_days(days_from_date(today) - i64::from(today.weekday().to_monday_zero_offset()));
    let before = |on: Date, days: i64| date_from_days(days_from_date(on) - days);
    let whole =
        |start: Date, months: i64| (start, before(start.saturating_add(months.months()), 1));
    Some(match phrase {
        "today" => (today, today),
        "yesterday" => (before(today, 1), before(today, 1)),
        "this week" => (monday, today),
        "last week" => (before(monday, 7), before(monday, 1)),
        "this month" => (month, today),
        "last month" => whole(month.saturating_sub(1.month()), 1),
        "this quarter" => (quarter, today),
        "last quarter" => whole(quarter.saturating_sub(3.months()), 3),
        "this year" => (today.first_of_year(), today),
        "last year" => whole(today.first_of_year().saturating_sub(1.year()), 12),
        _ => return last_days(phrase, today).or_else(|| named_days(phrase, today)),
    })
}

/// "last 30 days", including today.
fn last_days(phrase: &str, today: Date) -> Option<Days> {
    let count: i64 = phrase.strip_prefix("last ")?.strip_suffix(" days")?.parse().ok()?;
    let is_sensible = (1..=3_660).contains(&count);
    is_sensible.then(|| (date_from_days(days_from_date(today) - count + 1), today))
}

/// "in october", "october 2025", "in october 2025", "2025". A month alone may be part of a name, so it is none.
fn named_days(phrase: &str, today: Date) -> Option<Days> {
    let (rest, has_in) = match phrase.strip_prefix("in ") {
        Some(rest) => (rest, true),
        None => (phrase, false),
    };
    let words: Vec<&str> = rest.split(' ').collect();
    let year = |word: &str| word.parse().ok().filter(|it: &i16| (1990..=2100).contains(it));
    let month_of = |word: &str| {
        let found = MONTHS.iter().position(|it| *it == word || it[..3] == *word)?;
        i8::try_from(found + 1).ok()
    };
    let month = |year: i16, month: i8| {
        let start = Date::new(year, month, 1).ok()?;
        Some((start, start.last_of_month()))
    };
    match words[..] {
        [word] if year(word).is_some() => {
            let start = Date::new(year(word)?, 1, 1).ok()?;
            Some((start, start.last_of_year()))
        }
        [word] if has_in => {
            // The last such month that has begun.
            let of = month_of(word)?;
            let years_back = i16::from(of > today.month());
            month(today.year() - years_back, of)
        }
        [word, of_year] => month(year(of_year)?, month_of(word)?),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> String {
        let today = "2026-11-18".parse().unwrap();
        match split(text, today) {
            Some((rest, (start, end))) => format!("{rest}|{start}|{end}"),
            None => "none".to_owned(),
        }
    }

    #[test]
    fn dates_are_understood_anywhere_in_the_text() {
        assert_eq!(found("coffee last month"), "coffee|2026-10-01|2026-10-31");
        assert_eq!(found("Last Month coffee shop"), "coffee shop|2026-10-01|2026-10-31");
        assert_eq!(found("last 30 days"), "|2026-10-20|2026-11-18");
        assert_eq!(found("this week"), "|2026-11-16|2026-11-18");
        assert_eq!(found("last week"), "|2026-11-09|2026-11-15");
        assert_eq!(found("last quarter"), "|2026-07-01|2026-09-30");
        assert_eq!(found("rent last year"), "rent|2025-01-01|2025-12-31");
        assert_eq!(found("rent in december"), "rent|2025-12-01|2025-12-31");
        assert_eq!(found("rent in nov"), "rent|2026-11-01|2026-11-30");
        assert_eq!(found("feb 2024"), "|2024-02-01|2024-02-29");
        assert_eq!(found("kroger 2025"), "kroger|2025-01-01|2025-12-31");
        assert_eq!(found("yesterday"), "|2026-11-17|2026-11-17");
    }

    #[test]
    fn names_are_left_alone() {
        for text in
            ["", "may", "march of dimes", "7-eleven", "#1631", "last", "store 44", "last 0 days"]
        {
            assert_eq!(found(text), "none", "{text}");
        }
    }
}
