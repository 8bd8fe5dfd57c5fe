//! Drafts: what a source says, in our nouns but not yet ours. `service::imports` decides what is new in it.

use crate::category::Category;
use crate::words;
use crate::{Currency, Date, Fixed9, Money, Timestamp};

/// Everything one connection had to say at one moment.
#[derive(Debug, Clone)]
pub struct Statement {
    pub source: Source,
    /// Names the connection at its source; the same value again means the same connection.
    pub connection: String,
    pub institution: Option<String>,
    pub as_of: Timestamp,
    pub accounts: Vec<AccountDraft>,
    pub rates: Vec<RateDraft>,
}

words!(
    /// Where data comes from, as `external_source` names it.
    Source {
        Demo => "demo",
        File => "file",
        Manual => "manual",
        Plaid => "plaid",
        Simplefin => "simplefin",
    }
);

/// One account, and what happened on it. Absent facts are unknown, never zero.
#[derive(Debug, Clone)]
pub struct AccountDraft {
    /// The source's own id for the account, unique within the connection.
    pub external_id: String,
    pub name: String,
    pub mask: Option<String>,
    pub kind: AccountKind,
    /// Plaid's subtype: checking, savings, credit card, mortgage, brokerage, 401k and so on.
    pub subtype: Option<String>,
    pub currency: Currency,
    pub institution_name: Option<String>,
    pub institution_logo: Option<String>,
    pub closed_on: Option<Date>,
    pub balance: Option<BalanceDraft>,
    /// End-of-day balances the source still remembers, in any order.
    pub past_balances: Vec<PastBalance>,
    /// Yearly interest in percent, such as 21.49.
    pub interest_rate: Option<Fixed9>,
    /// Yearly yield as the bank prints it, such as "4.20%".
    pub apy_display: Option<String>,
    pub next_payment_due_on: Option<Date>,
    pub transactions: Vec<TransactionDraft>,
    /// External ids of transactions that the source took back.
    pub removed: Vec<String>,
    /// All positions of the account, when the source speaks of positions at all: what is not listed is gone.
    pub holdings: Option<Vec<HoldingDraft>>,
}

impl AccountDraft {
    /// An account of which nothing more is known yet. Whatever a source writes in its name, it stands on one line and
    /// gives a terminal no orders.
    pub fn new(
        external_id: impl Into<String>,
        name: impl AsRef<str>,
        kind: AccountKind,
        currency: Currency,
    ) -> AccountDraft {
        AccountDraft {
            external_id: external_id.into(),
            name: name.as_ref().replace('\0', "").replace(char::is_control, " "),
            mask: None,
            kind,
            subtype: None,
            currency,
            institution_name: None,
            institution_logo: None,
            closed_on: None,
            balance: None,
            past_balances: Vec::new(),
            interest_rate: None,
            apy_display: None,
            next_payment_due_on: None,
            transactions: Vec::new(),
            removed: Vec::new(),
            holdings: None,
        }
    }
}

words!(
    /// In the order in which lists show them.
    AccountKind {
        Depository => "depository",
        Credit => "credit",
        Loan => "loan",
        Investment => "investment",
        Other => "other",
    }
);

impl AccountKind {
    /// Whether the balance is what the person owes rather than owns.
    pub fn is_debt(self) -> bool {
        matches!(self, AccountKind::Credit | AccountKind::Loan)
    }
}

/// Minor units of the account's currency. `current` of a credit or loan account is what is owed, as a positive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BalanceDraft {
    pub as_of: Timestamp,
    pub current_minor: i64,
    pub available_minor: Option<i64>,
    pub limit_minor: Option<i64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PastBalance {
    pub on: Date,
    pub current_minor: i64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TransactionDraft {
    /// The source's own id, where it gives one that stays the same. Where several sources may speak of one account,
    /// who gave the id stands in front of it; see `giver_of`.
    pub external_id: Option<String>,
    pub pending: bool,
    /// The external id of the pending transaction that this posted one settles, where the source says so.
    pub settles: Option<String>,
    pub posted_on: Date,
    pub authorized_on: Option<Date>,
    /// Positive is money into the account.
    pub amount: Money,
    /// The bank's own words, untouched.
    pub description: String,
    pub counterparty: Option<String>,
    pub counterparty_logo_url: Option<String>,
    pub category: Option<Category>,
}

/// Who gave an external id: what stands before its first blank, if anything does. Ids of different givers say nothing
/// about each other.
pub fn giver_of(external_id: &str) -> &str {
    external_id.split_once(' ').map_or("", |(giver, _)| giver)
}

#[derive(Debug, Clone, PartialEq)]
pub struct HoldingDraft {
    pub security: SecurityDraft,
    pub quantity: Fixed9,
    /// What the position cost in all, in minor units; none when the source does not know.
    pub cost_basis_minor: Option<i64>,
    /// The source's own valuation, for what has no price.
    pub institution_value_minor: Option<i64>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct SecurityDraft {
    /// The source's own id for the security, unique within the connection.
    pub external_id: String,
    pub symbol: Option<String>,
    pub name: String,
    pub kind: SecurityKind,
    pub asset_class: AssetClass,
    pub currency: Currency,
    pub price: Option<Fixed9>,
    pub previous_close: Option<Fixed9>,
    pub priced_at: Option<Timestamp>,
}

words!(
    SecurityKind {
        Cash => "cash",
        Cryptocurrency => "cryptocurrency",
        Derivative => "derivative",
        Equity => "equity",
        Etf => "etf",
        FixedIncome => "fixed_income",
        MutualFund => "mutual_fund",
        Other => "other",
    }
);

words!(
    AssetClass {
        Alternative => "alternative",
        Cash => "cash",
        Crypto => "crypto",
        Derivative => "derivative",
        Equity => "equity",
        FixedIncome => "fixed_income",
        Fund => "fund",
        Other => "other",
    }
);

/// One unit of `from` was worth `rate` units of `to` on that day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RateDraft {
    pub from: Currency,
    pub to: Currency,
    pub on: Date,
    pub rate: Fixed9,
}
