//! The input of the income and score analyses: one person's accounts, posted entries and pay, in one currency.

use base::category::Category;
use base::draft::AccountKind;
use base::{AccountId, Date, TransactionId};

pub use crate::recurring::Frequency;
pub use crate::transfers::TransferKind;

/// One person's ledger. All amounts are minor units of the base currency; the caller converts them.
#[derive(Debug, Clone)]
pub struct Ledger {
    /// The current day of the person. Later entries are ignored, so that no result looks ahead.
    pub as_of: Date,
    /// Not hidden. Entries of a closed account still count, its balance does not.
    pub accounts: Vec<Account>,
    /// Posted, in any order.
    pub entries: Vec<Entry>,
    pub pays: Vec<PayStream>,
    /// The minimum unexpected expense to be prepared for: 2,000 US dollars in the base currency, unless the person
    /// chose another amount.
    pub shock_floor_minor: i64,
}

impl Ledger {
    /// Entries up to `as_of`, with their indexes in `entries`.
    pub fn seen(&self) -> impl Iterator<Item = (usize, &Entry)> {
        self.entries.iter().enumerate().filter(|(_, it)| it.on <= self.as_of)
    }

    pub fn first_on(&self) -> Option<Date> {
        self.seen().map(|(_, it)| it.on).min()
    }

    pub fn account(&self, entry: &Entry) -> &Account {
        &self.accounts[entry.account]
    }

    /// The stream of an entry with a schedule that is known well enough to rely on.
    pub fn mature_pay(&self, entry: &Entry) -> Option<&PayStream> {
        entry.pay.map(|it| &self.pays[it.stream]).filter(|it| it.mature)
    }
}

#[derive(Debug, Clone)]
pub struct Account {
    pub id: AccountId,
    pub kind: AccountKind,
    /// Plaid's subtype, such as checking or money market.
    pub subtype: Option<String>,
    /// For a debt, the positive amount owed. None if it is not known.
    pub balance_minor: Option<i64>,
    pub limit_minor: Option<i64>,
    /// End-of-day balances up to and including `as_of`, oldest first, at most a year; only for depository accounts.
    pub daily: Vec<i64>,
}

impl Account {
    /// Whether the account can hold an emergency fund.
    pub fn is_savings(&self) -> bool {
        const SAVINGS: [&str; 4] = ["savings", "money market", "cd", "cash management"];
        self.kind == AccountKind::Depository && SAVINGS.contains(&self.subtype())
    }

    /// Whether the money can be spent on anything within days. Term deposits, health savings accounts and benefits
    /// cards are restricted.
    pub fn is_liquid(&self) -> bool {
        const BOUND: [&str; 3] = ["cd", "hsa", "ebt"];
        self.kind == AccountKind::Depository && !BOUND.contains(&self.subtype())
    }

    /// Whether purchases and bills are paid from the account.
    pub fn is_spent_from(&self) -> bool {
        matches!(self.kind, AccountKind::Depository | AccountKind::Credit)
    }

    fn subtype(&self) -> &str {
        self.subtype.as_deref().unwrap_or_default()
    }
}

#[derive(Debug, Clone)]
pub struct Entry {
    pub id: TransactionId,
    /// An index in `accounts`.
    pub account: usize,
    pub on: Date,
    /// Positive is money into the account. In the base currency, at the exchange rate of its day.
    pub amount_minor: i64,
    /// The amount at one exchange rate for all days. By it a refund is compared with its purchase.
    pub comparable_minor: i64,
    pub category: Option<Category>,
    /// The merchant key; empty if there is none.
    pub key: String,
    pub flags: EntryFlags,
    /// Set on both legs of a transfer between own accounts.
    pub transfer: Option<TransferKind>,
    /// An outflow that pays a linked card or loan, although the other leg of the payment is missing.
    pub pays_linked_debt: bool,
    pub pay: Option<Pay>,
    /// The purchase that the person linked an inflow to, as its refund.
    pub linked_purchase: Option<LinkedPurchase>,
    /// The comparable amount of the whole transaction, if the person split it and this is one part.
    pub whole_minor: Option<i64>,
}

impl Entry {
    /// Whether the entry is one part of a transaction that the person split.
    pub fn is_part(&self) -> bool {
        self.whole_minor.is_some()
    }
}

/// A purchase that a refund was linked to. It may lie before the entries of the ledger.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LinkedPurchase {
    pub category: Option<Category>,
}

/// Facts about an entry from its text and the merchant tables.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct EntryFlags {
    /// The text mentions a refund, return, reversal or chargeback.
    pub refund: bool,
    /// The counterparty is a person.
    pub person: bool,
    pub payroll: bool,
    pub gig: bool,
    /// The counterparty is a government or a pension fund.
    pub benefit: bool,
}

/// The slot of a stream that an entry fills.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pay {
    /// An index in `pays`.
    pub stream: usize,
    /// The nominal day: a salary of the 1st that posts on the 31st belongs to the 1st.
    pub slot_on: Date,
}

/// Income from one payer by a schedule.
#[derive(Debug, Clone)]
pub struct PayStream {
    pub payer: String,
    pub frequency: Frequency,
    pub mature: bool,
    /// The payer is a person.
    pub person: bool,
    /// Nominal days from the first payment on, filled or not: up to the last payment if the stream has ended, else up
    /// to `as_of`.
    pub slots: Vec<Date>,
}
