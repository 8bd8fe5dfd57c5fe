//! Errors of providers, as messages for the person that say what to do, and the button that does it.

use std::fmt;

use base::words;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BankError {
    pub message: String,
    pub kind: ErrorKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorKind {
    /// The token or the keys that were entered are wrong.
    InvalidInput,
    /// A retry may succeed without the person.
    Temporary,
    /// No more requests are accepted today.
    RateLimited,
    /// Only the person, or the operator, can end this.
    NeedsPerson(Option<Remedy>),
    /// The access has ended at the provider.
    Ended,
}

impl ErrorKind {
    /// The kind as a word, for metrics.
    pub fn as_str(self) -> &'static str {
        match self {
            ErrorKind::InvalidInput => "invalid_input",
            ErrorKind::Temporary => "temporary",
            ErrorKind::RateLimited => "rate_limited",
            ErrorKind::NeedsPerson(_) => "needs_person",
            ErrorKind::Ended => "ended",
        }
    }
}

words!(
    /// What the person can do about a problem; a page shows it as a button.
    Remedy {
        /// Sign in again on the provider's page. The connection continues.
        Repair => "repair",
        /// Choose further accounts of the bank on the provider's page.
        AddAccounts => "add_accounts",
        /// Connect again: the access has ended for good. Accounts and history stay.
        Reconnect => "reconnect",
        /// Enter other keys of the provider.
        ChangeKeys => "change_keys",
    }
);

impl BankError {
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> BankError {
        BankError { message: message.into(), kind }
    }

    pub fn invalid(message: impl Into<String>) -> BankError {
        BankError::new(ErrorKind::InvalidInput, message)
    }

    pub fn temporary(message: impl Into<String>) -> BankError {
        BankError::new(ErrorKind::Temporary, message)
    }

    pub fn remedy(&self) -> Option<Remedy> {
        match self.kind {
            ErrorKind::NeedsPerson(remedy) => remedy,
            ErrorKind::Ended => Some(Remedy::Reconnect),
            ErrorKind::InvalidInput | ErrorKind::Temporary | ErrorKind::RateLimited => None,
        }
    }
}

impl fmt::Display for BankError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for BankError {}
