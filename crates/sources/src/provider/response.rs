//! The response of a provider in the words that all providers share.

use std::collections::BTreeMap;
use std::fmt;

use base::draft::{AccountDraft, AccountKind};
use base::{Currency, Money, Timestamp, words};

use super::Remedy;

/// Everything that one sync returned.
#[derive(Debug)]
pub struct Response {
    pub offers: Vec<Offer>,
    pub unsupported: Vec<UnsupportedAccount>,
    /// The data of the accounts. It becomes drafts once the person's choices are known, when the response is stored.
    pub data: Box<dyn DraftAccounts>,
    pub account_notices: Vec<AccountNotice>,
    pub notice: Option<ConnectionNotice>,
    /// How many rows could not be read.
    pub rejected: usize,
    /// Whether it lists every pending transaction, so that others no longer exist.
    pub lists_all_pending: bool,
    /// The number of days that the provider returns at once, if that is fewer than requested.
    pub capped_days: Option<i64>,
    /// What the next sync needs to continue from here. It is stored together with the rows.
    pub state: Option<String>,
    /// Seconds until the next sync, if the provider has more soon.
    pub again_in_seconds: Option<i64>,
}

/// Turns the data of a response into drafts of the chosen accounts, by their external ids.
pub trait DraftAccounts: fmt::Debug + Send + Sync {
    fn drafts(&self, choices: &BTreeMap<String, AccountChoice>, at: Timestamp)
    -> Vec<AccountDraft>;
}

/// An account that the person can choose.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offer {
    /// Unique within the connection, and the same in every response.
    pub external_id: String,
    /// The login at the bank that it belongs to, as notices name it.
    pub login: Option<String>,
    /// The provider's id of it, as notices name it.
    pub id: String,
    pub name: String,
    pub institution: Option<String>,
    pub currency: Currency,
    /// The balance with the provider's sign.
    pub balance: Option<Money>,
    pub kind: AccountKind,
    pub subtype: Option<String>,
    pub owed: OwedSign,
}

/// An account that cannot be imported, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnsupportedAccount {
    pub id: String,
    pub name: String,
    pub reason: String,
}

/// The person's choices for an account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccountChoice {
    pub kind: AccountKind,
    pub subtype: Option<String>,
    /// Only used for cards and loans.
    pub owed: OwedSign,
}

words!(
    /// The sign that the server gives to a debt on a card or loan.
    OwedSign {
        Negative => "negative",
        Positive => "positive",
    }
);

/// A problem of one account, or of all accounts of one login.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccountNotice {
    pub login: Option<String>,
    /// The provider's id of the account; none means every account of the login.
    pub account: Option<String>,
    pub problem: AccountProblem,
}

/// Why an account may be incomplete, the most serious last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum AccountProblem {
    Incomplete,
    SignIn,
    Unlisted,
    Unusable,
}

/// A message about the connection as a whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConnectionNotice {
    pub message: String,
    pub needs_action: bool,
    pub rate_limited: bool,
    pub remedy: Option<Remedy>,
}

impl AccountNotice {
    pub(crate) fn new(account: &str, problem: AccountProblem) -> AccountNotice {
        AccountNotice { login: None, account: Some(account.to_owned()), problem }
    }
}

/// The messages that are the same for all providers.
impl AccountProblem {
    pub(crate) fn incomplete_message(bank: &str) -> String {
        format!("{bank} didn't send everything in the last sync. We'll try again automatically.")
    }

    pub(crate) fn unusable_message(bank: &str) -> String {
        format!(
            "The data from {bank} for this account is invalid: its currency changed, or an amount \
             is impossible. Nothing was imported."
        )
    }
}

/// Separates the accounts that the person can choose from those that cannot be imported.
pub(crate) fn split_offers(
    accounts: impl Iterator<Item = Result<Offer, UnsupportedAccount>>,
) -> (Vec<Offer>, Vec<UnsupportedAccount>) {
    let (mut offers, mut unsupported) = (Vec::new(), Vec::new());
    for account in accounts {
        match account {
            Ok(offer) => offers.push(offer),
            Err(refused) => unsupported.push(refused),
        }
    }
    (offers, unsupported)
}
