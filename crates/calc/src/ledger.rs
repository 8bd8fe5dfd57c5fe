//! What the analyses of income and of scores read: one person's accounts, posted entries and pay,
//! in one currency.

use base::category::Category;
use base::draft::AccountKind;
use base::{AccountId, Date, TransactionId};

pub use crate::recurring::Frequency;
pub use crate::transfers::Kind as TransferKind;

/// All amounts are minor units of the person's base currency; whoever fills it converts.
#[derive(Debug, Clone)]
pub struct Ledger {
    /// The person's day. What lies after it is ignored, so that no result looks ahead.
    pub as_of: Date,
    /// Open and not hidden.
    pub accounts: Vec<Account>,
    /// Posted, in any order.
    pub entries: Vec<Entry>,
    pub pays: Vec<PayStream>,
    /// The least sudden bill worth being ready for: 2,000 US dollars in the base currency, unless
    /// the person chose another amount.
    pub shock_floor_minor: i64,
}

impl Ledger {
    /// Entries that the day has seen, with their places in `entries`.
    pub fn seen(&self) -> impl Iterator<Item = (usize, &Entry)> {
        self.entries.iter().enumerate().filter(|(_, it)| it.on <= self.as_of)
    }

    pub fn first_on(&self) -> Option<Date> {
        self.seen().map(|(_, it)| it.on).min()
    }

    pub fn account(&self, entry: &Entry) -> &Account {
        &self.accounts[entry.account]
    }

    /// The stream of an entry that came by a schedule known well enough to count on.
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
    /// Of a debt what is owed, as a positive.
    pub balance_minor: i64,
    pub limit_minor: Option<i64>,
    /// End-of-day balances up to and including `as_of`, oldest first, at most a year of them; only
    /// of depository accounts.
    pub daily: Vec<i64>,
}

impl Account {
    /// Where an emergency fund lies.
    pub fn is_savings(&self) -> bool {
        const SAVINGS: [&str; 4] = ["savings", "money market", "cd", "cash management"];
        self.kind == AccountKind::Depository && SAVINGS.contains(&self.subtype())
    }

    /// Whether the money can be spent on anything within days. A term deposit, a health savings
    /// account and a benefits card are bound.
    pub fn is_liquid(&self) -> bool {
        const BOUND: [&str; 3] = ["cd", "hsa", "ebt"];
        self.kind == AccountKind::Depository && !BOUND.contains(&self.subtype())
    }

    /// Whether purchases and bills are paid from here.
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
    /// A place in `accounts`.
    pub account: usize,
    pub on: Date,
    /// Positive is money into the account.
    pub amount_minor: i64,
    pub category: Option<Category>,
    /// The cleaned merchant key; empty if there is none.
    pub key: String,
    pub signs: Signs,
    /// Both legs of a move between own accounts carry its kind.
    pub transfer: Option<TransferKind>,
    pub pay: Option<Pay>,
}

/// What the text and the merchant tables tell of an entry.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Signs {
    /// The text speaks of a refund, a return, a reversal or a chargeback.
    pub refund: bool,
    /// The other side is a person.
    pub person: bool,
    pub payroll: bool,
    pub gig: bool,
    /// The other side is a government or a pension fund.
    pub benefit: bool,
}

/// Which slot of which stream an entry fills.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pay {
    /// A place in `pays`.
    pub stream: usize,
    /// The nominal day: a salary of the 1st that posts on the 31st belongs to the 1st.
    pub slot_on: Date,
}

/// Money that comes from one payer by a schedule.
#[derive(Debug, Clone)]
pub struct PayStream {
    pub payer: String,
    pub frequency: Frequency,
    pub mature: bool,
    /// The payer is a person.
    pub person: bool,
    /// Nominal days from the first payment on, filled or not: up to the last payment if the stream
    /// has ended, else up to `as_of`.
    pub slots: Vec<Date>,
}
