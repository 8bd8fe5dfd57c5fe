//! Test helpers: statements as banks write them, and the resulting state of each benefit.

#![expect(clippy::inconsistent_digit_grouping, reason = "12_50 reads as twelve dollars fifty")]

mod credits;
mod laws;
mod states;

use super::super::catalog::find_card;
use super::super::summary::{Summary, days_left, expiring, summary};
use super::*;

/// A card, its account and its statement lines.
struct Scenario {
    card: &'static Card,
    account: Account,
    entries: Vec<Entry>,
    marks: Vec<Mark>,
}

fn on(text: &str) -> Date {
    text.parse().unwrap()
}

/// A scenario with an account old enough for every period of the year.
fn scenario(card: &str) -> Scenario {
    Scenario {
        card: find_card(card).unwrap(),
        account: Account { opened_on: Some(on("2020-03-20")), ..Account::default() },
        entries: Vec::new(),
        marks: Vec::new(),
    }
}

impl Scenario {
    fn line(mut self, day: &str, minor: i64, description: &str) -> Scenario {
        let number = self.entries.len() as u128 + 1;
        self.entries.push(Entry {
            id: TransactionId::from_bytes(number.to_be_bytes()),
            on: on(day),
            authorized_on: None,
            amount_minor: minor,
            description: description.to_owned(),
            key: String::new(),
            category: None,
        });
        self
    }

    /// Sets the purchase date of the last line.
    fn made_on(mut self, day: &str) -> Scenario {
        self.entries.last_mut().unwrap().authorized_on = Some(on(day));
        self
    }

    /// Sets the category of the last line.
    fn category(mut self, code: &str) -> Scenario {
        self.entries.last_mut().unwrap().category = Category::parse(code);
        self
    }

    fn mark(mut self, benefit: &str, day: &str, what: MarkValue) -> Scenario {
        self.marks.push(Mark { benefit: benefit.to_owned(), on: on(day), what });
        self
    }

    fn usage(&self, as_of: &str) -> Usage<'static> {
        usage(self.card, &self.account, &self.entries, &self.marks, on(as_of))
    }

    fn state(&self, benefit: &str, as_of: &str) -> BenefitState<'static> {
        let usage = self.usage(as_of);
        usage.current.into_iter().find(|it| it.benefit.id == benefit).unwrap()
    }

    /// The current period and those that ended this year, newest first: start, used of total, pending, status.
    fn shown(&self, benefit: &str, as_of: &str) -> String {
        let usage = self.usage(as_of);
        let states = usage.current.iter().chain(&usage.ended);
        let describe = |it: &BenefitState<'_>| {
            let pending = match it.pending_minor {
                0 => String::new(),
                minor => format!("+{minor}"),
            };
            let (start, status) = (it.cycle.start, it.status.as_str());
            format!("{start} {}{pending}/{} {status}", it.used_minor, it.total_minor)
        };
        let of_benefit = states.filter(|it| it.benefit.id == benefit);
        of_benefit.map(describe).collect::<Vec<_>>().join(", ")
    }

    /// The evidence of the current period: line numbers of purchase and credit, amount, day.
    fn evidence(&self, benefit: &str, as_of: &str) -> String {
        let line_number = |id: Option<TransactionId>| match id {
            Some(id) => u128::from_be_bytes(*id.as_bytes()).to_string(),
            None => "-".to_owned(),
        };
        let describe = |it: &Link| {
            format!(
                "{}>{} {} {}",
                line_number(it.purchase),
                line_number(it.credit),
                it.amount_minor,
                it.on
            )
        };
        let state = self.state(benefit, as_of);
        state.evidence.iter().map(describe).collect::<Vec<_>>().join(", ")
    }
}
