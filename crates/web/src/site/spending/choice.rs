//! What the spending page shows, as the URL gives it: the period, the comparison, the grouping and one category.

use base::Date;
use base::category::Category;
use jiff::ToSpan as _;
use service::insights::spending::{Compare, GroupBy, Period};

use crate::site::urls;

base::words!(PeriodChoice {
    ThisMonth => "this_month",
    LastMonth => "last_month",
    ThreeMonths => "3_months",
    LastQuarter => "last_quarter",
    ThisYear => "this_year",
    TwelveMonths => "12_months",
    /// From one day to another.
    Days => "days",
});

base::words!(CompareChoice {
    Before => "before",
    Year => "year",
    /// An average month. Only for a single month by category.
    Usual => "usual",
});

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Choice {
    pub(super) period: PeriodChoice,
    pub(super) days: Period,
    pub(super) compare: CompareChoice,
    pub(super) by: GroupBy,
    /// Only this primary category.
    pub(super) category: Option<String>,
    /// Days that could not be used.
    pub(super) refused: Option<RefusedDays>,
}

/// Days as they were typed, and why they cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RefusedDays {
    pub(super) from: String,
    pub(super) to: String,
    pub(super) reason: &'static str,
}

impl Choice {
    pub(super) fn read(query: &str, today: Date) -> Choice {
        let value = |name: &str| urls::find_param(query, name).unwrap_or_default();
        let mut period = PeriodChoice::parse(&value("period")).unwrap_or(PeriodChoice::ThisMonth);
        let mut refused = None;
        let mut days = period.days(today);
        if period == PeriodChoice::Days {
            let (from, to) = (value("from"), value("to"));
            match typed_days(&from, &to, today) {
                Ok(typed) => days = typed,
                Err(reason) => {
                    refused = Some(RefusedDays { from, to, reason });
                    period = PeriodChoice::ThisMonth;
                }
            }
        }
        let category = value("category");
        let is_known = Category::ALL.iter().any(|it| it.primary() == category);
        let by = GroupBy::parse(&value("by")).filter(|it| *it != GroupBy::Month);
        let choice = Choice {
            period,
            days,
            compare: CompareChoice::parse(&value("compare")).unwrap_or(CompareChoice::Before),
            by: by.unwrap_or_default(),
            category: is_known.then_some(category),
            refused,
        };
        if choice.compare == CompareChoice::Usual && !choice.has_usual() {
            return Choice { compare: CompareChoice::Before, ..choice };
        }
        choice
    }

    /// Whether the period can be compared with an average month.
    pub(super) fn has_usual(&self) -> bool {
        self.by == GroupBy::Category
            && matches!(self.period, PeriodChoice::ThisMonth | PeriodChoice::LastMonth)
    }

    pub(super) fn compared_with(&self) -> Compare {
        match self.compare {
            CompareChoice::Year => Compare::PreviousYear,
            CompareChoice::Before | CompareChoice::Usual => Compare::PreviousPeriod,
        }
    }

    /// The URL of this choice.
    pub(super) fn href(&self) -> String {
        let (from, to) = (self.days.start.to_string(), self.days.end.to_string());
        let typed = self.period == PeriodChoice::Days;
        let given = |it: &'static str, default: bool| if default { "" } else { it };
        let query = urls::query_string(&[
            ("period", given(self.period.as_str(), self.period == PeriodChoice::ThisMonth)),
            ("from", if typed { &from } else { "" }),
            ("to", if typed { &to } else { "" }),
            ("compare", given(self.compare.as_str(), self.compare == CompareChoice::Before)),
            ("by", given(self.by.as_str(), self.by == GroupBy::Category)),
            ("category", self.category.as_deref().unwrap_or_default()),
        ]);
        format!("/spending{query}")
    }

    /// What counts as spending in the period, with one more filter.
    pub(super) fn transactions(&self, filter: (&str, &str)) -> String {
        let (from, to) = (self.days.start.to_string(), self.days.end.to_string());
        // Spending counts posted transactions only. Without income, the list adds up to the figure.
        let query = urls::query_string(&[
            filter,
            ("from", &from),
            ("to", &to),
            ("status", "posted"),
            ("counts", "spending"),
        ]);
        format!("/transactions{query}")
    }
}

impl PeriodChoice {
    pub(super) fn name(self) -> &'static str {
        match self {
            PeriodChoice::ThisMonth => "This month",
            PeriodChoice::LastMonth => "Last month",
            PeriodChoice::ThreeMonths => "3 months",
            PeriodChoice::LastQuarter => "Last quarter",
            PeriodChoice::ThisYear => "This year",
            PeriodChoice::TwelveMonths => "12 months",
            PeriodChoice::Days => "Other dates",
        }
    }

    /// Its days. Periods that go on end today.
    fn days(self, today: Date) -> Period {
        let month = today.first_of_month();
        let back = |months: i64| month.saturating_sub(months.months());
        match self {
            PeriodChoice::ThisMonth | PeriodChoice::Days => Period { start: month, end: today },
            PeriodChoice::LastMonth => Period { start: back(1), end: back(1).last_of_month() },
            PeriodChoice::ThreeMonths => Period { start: back(2), end: today },
            PeriodChoice::LastQuarter => {
                let start = back(i64::from((today.month() - 1) % 3) + 3);
                Period { start, end: start.saturating_add(2.months()).last_of_month() }
            }
            PeriodChoice::ThisYear => Period { start: today.first_of_year(), end: today },
            PeriodChoice::TwelveMonths => Period { start: back(11), end: today },
        }
    }
}

/// The longest time between two typed days.
const YEARS_MAX: i16 = 10;

fn typed_days(from: &str, to: &str, today: Date) -> Result<Period, &'static str> {
    let start: Date = from.parse().map_err(|_| "Enter the first day, such as 2026-01-31.")?;
    let end = match to {
        "" => today.max(start),
        to => to.parse().map_err(|_| "Enter the last day, such as 2026-01-31.")?,
    };
    if start > end {
        return Err("The start date is after the end date.");
    }
    if end.year() - start.year() >= YEARS_MAX {
        return Err("Choose less than ten years.");
    }
    Ok(Period { start, end })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(query: &str) -> Choice {
        Choice::read(query, "2026-11-16".parse().unwrap())
    }

    #[test]
    fn every_choice_is_kept_in_its_url() {
        for query in [
            "",
            "?period=last_month&compare=usual",
            "?period=days&from=2026-01-02&to=2026-02-03&by=merchant",
            "?period=12_months&compare=year&category=FOOD_AND_DRINK",
        ] {
            let choice = read(query.trim_start_matches('?'));
            assert_eq!(choice.href(), format!("/spending{query}"));
            assert_eq!(choice.refused, None);
        }
    }

    #[test]
    fn periods_are_the_ones_a_person_expects() {
        let days = |query: &str| {
            let days = read(query).days;
            format!("{} {}", days.start, days.end)
        };
        assert_eq!(days(""), "2026-11-01 2026-11-16");
        assert_eq!(days("period=last_month"), "2026-10-01 2026-10-31");
        assert_eq!(days("period=3_months"), "2026-09-01 2026-11-16");
        assert_eq!(days("period=last_quarter"), "2026-07-01 2026-09-30");
        let last_quarter = |today: &str| {
            let days = PeriodChoice::LastQuarter.days(today.parse().unwrap());
            format!("{} {}", days.start, days.end)
        };
        assert_eq!(last_quarter("2026-01-01"), "2025-10-01 2025-12-31");
        assert_eq!(last_quarter("2026-12-31"), "2026-07-01 2026-09-30");
        assert_eq!(days("period=this_year"), "2026-01-01 2026-11-16");
        assert_eq!(days("period=12_months"), "2025-12-01 2026-11-16");
    }

    #[test]
    fn what_cannot_be_used_is_said_or_left_out() {
        let problem = |query: &str| read(query).refused.map_or("", |it| it.reason);
        assert_eq!(problem("period=days&from=x"), "Enter the first day, such as 2026-01-31.");
        let turned = "period=days&from=2026-02-01&to=2026-01-01";
        assert_eq!(problem(turned), "The start date is after the end date.");
        assert_eq!(problem("period=days&from=1990-01-01"), "Choose less than ten years.");
        assert_eq!(read("category=<script>&by=month&compare=x").href(), "/spending");
        // There is no average of merchants.
        assert_eq!(read("compare=usual&by=merchant").compare, CompareChoice::Before);
    }
}
