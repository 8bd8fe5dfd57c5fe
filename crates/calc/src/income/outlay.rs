//! What money that left was for.

use base::category::Category;
use base::draft::AccountKind;
use base::words;

use crate::ledger::{Entry, Ledger, TransferKind};

words!(
    DebtLabel {
        Mortgage => "mortgage",
        Auto => "auto",
        Student => "student",
        Personal => "personal",
        CardInterest => "card_interest",
        Other => "other",
    }
);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outlay {
    Expense(Option<Category>),
    Debt(DebtLabel),
    Invested,
    /// Moved between own accounts, or paid a card whose purchases already counted.
    Own,
}

impl Outlay {
    /// Also answers for a refund, which takes back what this says.
    pub(super) fn of(ledger: &Ledger, entry: &Entry) -> Outlay {
        match entry.transfer {
            // A linked loan changes nothing: the payment still comes out of income.
            Some(TransferKind::LoanPayment) => return Outlay::Debt(debt_label(entry)),
            Some(TransferKind::Investment) => return Outlay::Invested,
            Some(TransferKind::CardPayment | TransferKind::Savings | TransferKind::Transfer) => {
                return Outlay::Own;
            }
            None => {}
        }
        if is_investment(entry) {
            return Outlay::Invested;
        }
        let code = entry.category.map_or("", Category::detailed);
        if is_own(entry) || code == "LOAN_PAYMENTS_CREDIT_CARD_PAYMENT" {
            return Outlay::Own;
        }
        let on_card = ledger.account(entry).kind == AccountKind::Credit;
        match entry.category.map_or("", Category::primary) {
            "LOAN_PAYMENTS" => Outlay::Debt(debt_label(entry)),
            "BANK_FEES" if on_card => Outlay::Debt(DebtLabel::CardInterest),
            "BANK_FEES" if code == "BANK_FEES_INTEREST_CHARGE" => Outlay::Debt(DebtLabel::Other),
            // These name money that comes in, so they do not say what went out.
            "INCOME" | "TRANSFER_IN" | "LOAN_DISBURSEMENTS" => Outlay::Expense(None),
            _ => Outlay::Expense(entry.category),
        }
    }

    pub(super) fn is_spending(&self) -> bool {
        matches!(self, Outlay::Expense(_) | Outlay::Debt(_))
    }
}

fn debt_label(entry: &Entry) -> DebtLabel {
    match entry.category.map_or("", Category::detailed) {
        "LOAN_PAYMENTS_MORTGAGE_PAYMENT" => DebtLabel::Mortgage,
        "LOAN_PAYMENTS_CAR_PAYMENT" => DebtLabel::Auto,
        "LOAN_PAYMENTS_STUDENT_LOAN_PAYMENT" => DebtLabel::Student,
        "LOAN_PAYMENTS_PERSONAL_LOAN_PAYMENT" => DebtLabel::Personal,
        _ => DebtLabel::Other,
    }
}

/// To or from an investment account, linked or not.
pub(super) fn is_investment(entry: &Entry) -> bool {
    match entry.transfer {
        Some(kind) => kind == TransferKind::Investment,
        None => matches!(
            entry.category.map_or("", Category::detailed),
            "TRANSFER_IN_INVESTMENT_AND_RETIREMENT_FUNDS"
                | "TRANSFER_OUT_INVESTMENT_AND_RETIREMENT_FUNDS"
        ),
    }
}

/// Whether the category alone says that the other side is the person's own account, linked or not.
pub(super) fn is_own(entry: &Entry) -> bool {
    is_investment(entry)
        || matches!(
            entry.category.map_or("", Category::detailed),
            "TRANSFER_IN_ACCOUNT_TRANSFER"
                | "TRANSFER_IN_SAVINGS"
                | "TRANSFER_OUT_ACCOUNT_TRANSFER"
                | "TRANSFER_OUT_SAVINGS"
        )
}
