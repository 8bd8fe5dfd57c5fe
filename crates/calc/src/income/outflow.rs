//! The purpose of an outflow.

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
pub(super) enum OutflowPurpose {
    Expense(Option<Category>),
    Debt(DebtLabel),
    Invested,
    /// Moved between own accounts, or paid a card whose purchases already counted.
    Own,
}

impl OutflowPurpose {
    /// The purpose of an outflow, or of the purchase that a refund refunds.
    pub(super) fn of(ledger: &Ledger, entry: &Entry) -> OutflowPurpose {
        match entry.transfer {
            // The payment comes out of income even if the loan is linked.
            Some(TransferKind::LoanPayment) => return OutflowPurpose::Debt(debt_label(entry)),
            Some(TransferKind::Investment) => return OutflowPurpose::Invested,
            Some(TransferKind::CardPayment | TransferKind::Savings | TransferKind::Transfer) => {
                return OutflowPurpose::Own;
            }
            None => {}
        }
        if is_investment(entry) {
            return OutflowPurpose::Invested;
        }
        let code = entry.category.map_or("", Category::detailed);
        // A payment to a card counts only if the card is not linked, because then its purchases are not known.
        let pays_card = code == "LOAN_PAYMENTS_CREDIT_CARD_PAYMENT";
        if is_own(entry) || pays_card && entry.pays_linked_debt {
            return OutflowPurpose::Own;
        }
        let on_card = ledger.account(entry).kind == AccountKind::Credit;
        match entry.category.map_or("", Category::primary) {
            "LOAN_PAYMENTS" => OutflowPurpose::Debt(debt_label(entry)),
            "BANK_FEES" if on_card => OutflowPurpose::Debt(DebtLabel::CardInterest),
            "BANK_FEES" if code == "BANK_FEES_INTEREST_CHARGE" => {
                OutflowPurpose::Debt(DebtLabel::Other)
            }
            // These categories are for inflows, so they do not apply to an outflow.
            "INCOME" | "TRANSFER_IN" | "LOAN_DISBURSEMENTS" => OutflowPurpose::Expense(None),
            _ => OutflowPurpose::Expense(entry.category),
        }
    }

    pub(super) fn is_spending(&self) -> bool {
        matches!(self, OutflowPurpose::Expense(_) | OutflowPurpose::Debt(_))
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

/// Whether the entry goes to or comes from an investment account, linked or not.
pub(super) fn is_investment(entry: &Entry) -> bool {
    match entry.transfer {
        Some(kind) => kind == TransferKind::Investment,
        None => entry.category.is_some_and(is_investment_transfer),
    }
}

/// Whether the person linked the entry to a purchase, as its refund. A part of a split refund is in the category that the
/// person chose for it.
pub(super) fn is_linked(entry: &Entry) -> bool {
    entry.linked_purchase.is_some() && !entry.is_part()
}

/// Whether the category alone says that the other side is the person's own account, linked or not.
pub(super) fn is_own(entry: &Entry) -> bool {
    is_investment(entry)
        || entry.category.is_some_and(|it| is_own_transfer(it) && !is_investment_transfer(it))
}

/// Whether the category is that of a transfer between the person's own accounts, even if the other side is not linked.
pub fn is_own_transfer(category: Category) -> bool {
    let is_account_transfer = matches!(
        category.detailed(),
        "TRANSFER_IN_ACCOUNT_TRANSFER"
            | "TRANSFER_IN_SAVINGS"
            | "TRANSFER_OUT_ACCOUNT_TRANSFER"
            | "TRANSFER_OUT_SAVINGS"
    );
    is_account_transfer || is_investment_transfer(category)
}

fn is_investment_transfer(category: Category) -> bool {
    matches!(
        category.detailed(),
        "TRANSFER_IN_INVESTMENT_AND_RETIREMENT_FUNDS"
            | "TRANSFER_OUT_INVESTMENT_AND_RETIREMENT_FUNDS"
    )
}
