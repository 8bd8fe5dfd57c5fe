//! Access to one bank: a session, with its accounts and the end of the consent.

use serde::{Deserialize, Serialize};

use crate::provider::{BankError, ErrorKind, Remedy, Secret};

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Access {
    pub(super) session_id: String,
    pub(super) bank: String,
    pub(super) country: String,
    /// Seconds since 1970.
    pub(super) valid_until: Option<i64>,
    pub(super) accounts: Vec<Account>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Account {
    /// Changes with every session.
    pub(super) uid: String,
    /// Stays the same over sessions: our external id.
    pub(super) hash: String,
    /// Further ids that stay the same over sessions.
    #[serde(default)]
    pub(super) hashes: Vec<String>,
    pub(super) name: String,
    pub(super) currency: Option<String>,
    pub(super) iban: Option<String>,
    /// CACC, CARD, SVGS, LOAN and so on.
    pub(super) kind: Option<String>,
}

pub(super) const UNREADABLE: &str = "Evenkeel can't read its stored access to this bank. Connect the \
     bank again. Your accounts and their history stay.";

impl Access {
    pub(super) fn read(secret: &Secret) -> Result<Access, BankError> {
        serde_json::from_str(secret.expose()).map_err(|_| {
            BankError::new(ErrorKind::NeedsPerson(Some(Remedy::Reconnect)), UNREADABLE)
        })
    }

    pub(super) fn to_secret(&self) -> Secret {
        Secret::new(serde_json::to_string(self).unwrap_or_default())
    }
}
