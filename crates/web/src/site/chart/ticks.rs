//! The labels along time: four to seven where the time is long enough, at the beginnings of days, months or years, short
//! enough for a phone.

use base::{Date, date_from_days, days_from_date};

/// Days have longer labels than months.
const DAY_TICKS_MAX: usize = 6;
const MONTH_TICKS_MAX: usize = 7;

/// The distance between labels.
#[derive(Clone, Copy)]
enum Step {
    Days(i64),
    Months(i64),
}

const STEPS: [Step; 16] = [
    Step::Days(1),
    Step::Days(2),
    Step::Days(4),
    Step::Days(7),
    Step::Days(14),
    Step::Days(21),
    Step::Months(1),
    Step::Months(2),
    Step::Months(3),
    Step::Months(4),
    Step::Months(6),
    Step::Months(12),
    Step::Months(24),
    Step::Months(36),
    Step::Months(60),
    Step::Months(120),
];

/// The days that get a label, with their labels: "3 Nov", "Nov", or the year in January.
pub(super) fn between(first: Date, last: Date) -> Vec<(Date, String)> {
    let fitting = STEPS.into_iter().map(|it| (it, it.days(first, last)));
    let fitting = fitting.into_iter().find(|(step, days)| days.len() <= step.ticks_max());
    let (step, days) = fitting.unwrap_or((Step::Months(60), vec![first]));
    days.into_iter().map(|on| (on, step.label(on))).collect()
}

impl Step {
    fn ticks_max(self) -> usize {
        match self {
            Step::Days(_) => DAY_TICKS_MAX,
            Step::Months(_) => MONTH_TICKS_MAX,
        }
    }

    fn days(self, first: Date, last: Date) -> Vec<Date> {
        match self {
            Step::Days(step) => {
                let days = days_from_date(first)..=days_from_date(last);
                days.step_by(step as usize).map(date_from_days).collect()
            }
            Step::Months(step) => {
                let number = |on: Date| i64::from(on.year()) * 12 + i64::from(on.month()) - 1;
                let start = |month: i64| {
                    let (year, month) = (month.div_euclid(12), month.rem_euclid(12) + 1);
                    Date::new(year as i16, month as i8, 1).ok()
                };
                let months = number(first)..=number(last);
                let starts = months.filter(|it| it.rem_euclid(step) == 0).filter_map(start);
                starts.filter(|on| *on >= first).collect()
            }
        }
    }

    fn label(self, on: Date) -> String {
        let pattern = match self {
            Step::Days(_) => "%-d %b",
            Step::Months(_) if on.month() == 1 => "%Y",
            Step::Months(_) => "%b",
        };
        on.strftime(pattern).to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(first: &str, last: &str) -> Vec<String> {
        let ticks = between(first.parse().unwrap(), last.parse().unwrap());
        ticks.into_iter().map(|(_, label)| label).collect()
    }

    #[test]
    fn labels_are_few_short_and_at_round_days() {
        assert_eq!(labels("2026-11-16", "2026-11-16"), ["16 Nov"]);
        assert_eq!(labels("2026-10-16", "2026-11-16").len(), 5);
        assert_eq!(labels("2026-08-18", "2026-11-18").len(), 5);
        assert_eq!(labels("2026-04-20", "2026-11-18").len(), 7);
        assert_eq!(labels("2026-05-16", "2026-11-16"), ["Jun", "Jul", "Aug", "Sep", "Oct", "Nov"]);
        assert_eq!(labels("2025-11-16", "2026-11-16"), ["2026", "Mar", "May", "Jul", "Sep", "Nov"]);
        assert_eq!(labels("2016-11-16", "2026-11-16"), ["2018", "2020", "2022", "2024", "2026"]);
    }

    proptest::proptest! {
        #[test]
        fn there_are_four_to_seven(start in -10_000_i64..30_000, length in 0_i64..20_000) {
            let (first, last) = (date_from_days(start), date_from_days(start + length));
            let ticks = between(first, last);
            proptest::prop_assert!(ticks.len() <= MONTH_TICKS_MAX);
            proptest::prop_assert!(ticks.iter().all(|(on, _)| (first..=last).contains(on)));
            proptest::prop_assert!(!(3..=14_000).contains(&length) || ticks.len() >= 4, "{ticks:?}");
        }
    }
}
