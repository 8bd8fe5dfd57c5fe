//! The outflows within the window: spending, debt payments, savings and investments.

use std::collections::BTreeMap;

use base::category::Category;

use super::cash_flow::CashFlow;
use super::labels::{InflowLabel, Labels};
use super::outflow::{OutflowPurpose, is_investment};
use super::share::{Share, by_month};
use super::window::Window;
use crate::ledger::Ledger;

/// Totals over all months of the window.
pub(super) struct Flows {
    /// By the primary code of their category.
    pub(super) expenses: BTreeMap<&'static str, i128>,
    pub(super) debt: BTreeMap<&'static str, i128>,
    pub(super) rent: i128,
    /// The cash flows by month.
    pub(super) months: Vec<MonthFlows>,
    pub(super) saved: InflowOutflow,
    pub(super) invested: InflowOutflow,
}

/// The cash flows of one month, by posting date. Debt payments towards a linked account are none.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct MonthFlows {
    pub(super) received: i128,
    pub(super) spent: i128,
    pub(super) unclassified: i128,
}

impl MonthFlows {
    fn add(&mut self, flow: CashFlow, minor: i128) {
        match flow {
            CashFlow::Income => self.received += minor,
            CashFlow::Spending(_) => self.spent -= minor,
            CashFlow::Unclassified => self.unclassified += minor,
        }
    }
}

/// Totals in both directions, each positive.
#[derive(Default)]
pub(super) struct InflowOutflow {
    into: i128,
    out: i128,
}

impl Flows {
    pub(super) fn of(
        ledger: &Ledger,
        labels: &Labels,
        cash_flows: &[Option<CashFlow>],
        window: &Window,
    ) -> Flows {
        let mut flows = Flows {
            expenses: BTreeMap::new(),
            debt: BTreeMap::new(),
            rent: 0,
            months: vec![MonthFlows::default(); window.months as usize],
            saved: InflowOutflow::default(),
            invested: InflowOutflow::default(),
        };
        for (index, entry) in ledger.seen() {
            let account = ledger.account(entry);
            let Some(month) = window.month_index(entry.on).filter(|_| account.is_spent_from())
            else {
                continue;
            };
            let out = -i128::from(entry.amount_minor);
            let label = labels.labels[index];
            let outlay = match label {
                None => OutflowPurpose::of(ledger, entry),
                Some(InflowLabel::Refund) => labels.refunded[&index],
                Some(InflowLabel::InternalTransfer) if is_investment(entry) => {
                    OutflowPurpose::Invested
                }
                Some(_) => OutflowPurpose::Own,
            };
            flows.add(outlay, out);
            if let Some(flow) = cash_flows[index] {
                flows.months[month].add(flow, -out);
            }
            // Inflows that are not income are not part of the division of income.
            let divides = label.is_none_or(|it| {
                it.is_income() || matches!(it, InflowLabel::InternalTransfer | InflowLabel::Refund)
            });
            if account.is_savings() && divides {
                flows.saved.add(-out);
            }
        }
        flows
    }

    fn add(&mut self, outlay: OutflowPurpose, out: i128) {
        match outlay {
            OutflowPurpose::Expense(category) => {
                let label = category.map_or("uncategorized", Category::primary);
                *self.expenses.entry(label).or_default() += out;
                if category.is_some_and(|it| it.detailed() == "RENT_AND_UTILITIES_RENT") {
                    self.rent += out;
                }
            }
            OutflowPurpose::Debt(label) => {
                *self.debt.entry(label.as_str()).or_default() += out;
            }
            OutflowPurpose::Invested => self.invested.add(out),
            OutflowPurpose::Own => {}
        }
    }
}

impl InflowOutflow {
    fn add(&mut self, into: i128) {
        self.into += into.max(0);
        self.out += (-into).max(0);
    }

    /// Net, inflow and outflow per month; inflow minus outflow equals net.
    pub(super) fn shares(&self, months: i64, income: i64) -> [Share; 3] {
        let (net, parts) = by_month(&[self.into, -self.out], months);
        [net, parts[0], parts[1].saturating_neg()].map(|it| Share::of(it, income))
    }
}
