//! The one definition of income, spending and transfer, which every endpoint and page uses.

use base::category::Category;

use super::outflow::{OutflowPurpose, is_linked, is_own};
use crate::ledger::{Entry, Ledger, TransferKind};

/// The cash flow that an entry on a depository or card account is. Transfers between own accounts, debt payments towards
/// a linked account, borrowed money and tax refunds are none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CashFlow {
    /// An inflow that the income analysis counts as income.
    Income,
    /// An outflow, or the refund of one, in the category of the purchase.
    Spending(Option<Category>),
    /// An inflow that is neither income, transfer nor refund as far as is known.
    Unclassified,
}

impl CashFlow {
    /// The cash flow of an entry without an exchange rate, which the analysis does not see. Without its history an
    /// inflow is unclassified. Totals name it as excluded.
    pub fn of_unconverted(ledger: &Ledger, entry: &Entry) -> Option<CashFlow> {
        match entry.amount_minor {
            _ if !ledger.account(entry).is_spent_from() => None,
            ..0 => CashFlow::of_outflow(OutflowPurpose::of(ledger, entry), entry),
            _ if is_linked(entry) => {
                let category = entry.linked_purchase.and_then(|it| it.category);
                let purchase = Entry { category, ..entry.clone() };
                CashFlow::of_outflow(OutflowPurpose::of(ledger, &purchase), &purchase)
            }
            _ if entry.transfer.is_some() || is_own(entry) => None,
            _ => Some(CashFlow::Unclassified),
        }
    }

    /// The spending that an outflow for this purpose is.
    pub(super) fn of_outflow(purpose: OutflowPurpose, entry: &Entry) -> Option<CashFlow> {
        match purpose {
            OutflowPurpose::Expense(category) => Some(CashFlow::Spending(category)),
            OutflowPurpose::Debt(_) => {
                let is_towards_linked =
                    entry.transfer == Some(TransferKind::LoanPayment) || entry.pays_linked_debt;
                (!is_towards_linked).then_some(CashFlow::Spending(entry.category))
            }
            OutflowPurpose::Invested | OutflowPurpose::Own => None,
        }
    }
}
