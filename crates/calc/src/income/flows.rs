//! Where money went within the window: what was spent, paid back, saved and invested.

use std::collections::BTreeMap;

use base::category::Category;

use super::label::{Label, Labels};
use super::outlay::{Outlay, is_investment};
use super::share::{Share, by_month};
use super::window::Window;
use crate::ledger::Ledger;

/// Sums over all months of the window.
pub(super) struct Flows {
    /// By the primary of their category.
    pub(super) expenses: BTreeMap<&'static str, i128>,
    pub(super) debt: BTreeMap<&'static str, i128>,
    pub(super) rent: i128,
    /// Expenses and debt by month.
    pub(super) spent: Vec<i128>,
    pub(super) saved: InOut,
    pub(super) invested: InOut,
}

/// Both positive.
#[derive(Default)]
pub(super) struct InOut {
    into: i128,
    out: i128,
}

impl Flows {
    pub(super) fn of(ledger: &Ledger, labels: &Labels, window: &Window) -> Flows {
        let mut flows = Flows {
            expenses: BTreeMap::new(),
            debt: BTreeMap::new(),
            rent: 0,
            spent: vec![0; window.months as usize],
            saved: InOut::default(),
            invested: InOut::default(),
        };
        for (place, entry) in ledger.seen() {
            let account = ledger.account(entry);
            let Some(month) = window.place(entry.on).filter(|_| account.is_spent_from()) else {
                continue;
            };
            let out = -i128::from(entry.amount_minor);
            let label = labels.labels[place];
            let outlay = match label {
                None => Outlay::of(ledger, entry),
                Some(Label::Refund) => labels.refunded[&place],
                Some(Label::InternalTransfer) if is_investment(entry) => Outlay::Invested,
                Some(_) => Outlay::Own,
            };
            flows.add(outlay, month, out);
            // Money that came in and is not income has no place in the division of income.
            let divides = label.is_none_or(|it| {
                it.is_income() || matches!(it, Label::InternalTransfer | Label::Refund)
            });
            if account.is_savings() && divides {
                flows.saved.add(-out);
            }
        }
        flows
    }

    fn add(&mut self, outlay: Outlay, month: usize, out: i128) {
        match outlay {
            Outlay::Expense(category) => {
                let label = category.map_or("uncategorized", Category::primary);
                *self.expenses.entry(label).or_default() += out;
                self.spent[month] += out;
                if category.is_some_and(|it| it.detailed() == "RENT_AND_UTILITIES_RENT") {
                    self.rent += out;
                }
            }
            Outlay::Debt(label) => {
                *self.debt.entry(label.as_str()).or_default() += out;
                self.spent[month] += out;
            }
            Outlay::Invested => self.invested.add(out),
            Outlay::Own => {}
        }
    }
}

impl InOut {
    fn add(&mut self, into: i128) {
        self.into += into.max(0);
        self.out += (-into).max(0);
    }

    /// Net, in and out by the month; the last two are positive and differ by the first.
    pub(super) fn shares(&self, months: i64, income: i64) -> [Share; 3] {
        let (net, parts) = by_month(&[self.into, -self.out], months);
        [net, parts[0], parts[1].saturating_neg()].map(|it| Share::of(it, income))
    }
}
