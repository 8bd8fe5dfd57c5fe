//! Tests of SimpleFIN's access addresses and of the windows of days that are asked for.

use base::{Date, date_from_days, days_from_date};
use proptest::prelude::*;

use super::{AccessUrl, Query, WINDOW_DAYS, windows, windows_of_days};

fn day(text: &str) -> Date {
    text.parse().unwrap()
}

#[test]
fn windows_run_backward_from_the_last_day() {
    let found = windows(day("2025-11-16"), day("2026-02-20"));
    assert_eq!(
        found,
        [
            (day("2026-01-07"), day("2026-02-20")),
            (day("2025-11-24"), day("2026-01-07")),
            (day("2025-11-16"), day("2025-11-24")),
        ]
    );
    assert_eq!(windows(day("2026-01-01"), day("2026-01-01")), []);
    assert_eq!(windows(day("2026-01-02"), day("2026-01-01")), []);
    assert_eq!(windows_of_days(day("2026-01-01"), day("2026-01-03"), 0).len(), 2);
}

#[test]
fn a_query_has_only_the_parameters_it_needs() {
    let access = AccessUrl::parse("https://user:word@host.example/simplefin").unwrap();
    let base = "https://host.example/simplefin/accounts?version=2";
    assert_eq!(Query::default().url(&access), base);
    let query = Query {
        start: Some(day("2026-01-01")),
        end: Some(day("2026-01-02")),
        pending: true,
        accounts: vec!["Demo Savings".to_owned(), "A&B=C".to_owned()],
        balances_only: true,
    };
    assert_eq!(
        query.url(&access),
        format!(
            "{base}&start-date=1767225600&end-date=1767312000&pending=1&balances-only=1\
             &account=Demo%20Savings&account=A%26B%3DC"
        )
    );
    let many = Query { accounts: vec!["ACT".repeat(30); 40], ..Query::default() };
    assert_eq!(many.url(&access), base);
}

proptest! {
    #[test]
    fn windows_cover_every_day_once(from in 0_i64..30_000, length in 0_i64..2_000) {
        let (from, to) = (date_from_days(from), date_from_days(from + length));
        let found = windows(from, to);
        let mut end = to;
        for (start, its_end) in &found {
            prop_assert_eq!(*its_end, end);
            let days = days_from_date(*its_end) - days_from_date(*start);
            prop_assert!((1..=WINDOW_DAYS).contains(&days));
            end = *start;
        }
        prop_assert_eq!(end, from.min(to));
    }
}
