//! The keys of a Plaid developer, and the access to one bank login. Both are stored encrypted, as JSON.

use std::fmt;

use base::words;
use serde::{Deserialize, Serialize};

use crate::provider::{BankError, ErrorKind, Institution, Remedy, Secret};

words!(
    Environment {
        Sandbox => "sandbox",
        Production => "production",
    }
);

impl Environment {
    pub(super) fn url(self) -> &'static str {
        match self {
            Environment::Sandbox => "https://sandbox.plaid.com",
            Environment::Production => "https://production.plaid.com",
        }
    }
}

/// A developer's keys for one environment.
#[derive(Clone, PartialEq, Eq)]
pub struct Keys {
    pub client_id: String,
    pub secret: String,
    pub environment: Environment,
}

#[derive(Serialize, Deserialize)]
struct StoredKeys {
    client_id: String,
    secret: String,
    environment: String,
}

impl Keys {
    pub fn to_secret(&self) -> Secret {
        let stored = StoredKeys {
            client_id: self.client_id.clone(),
            secret: self.secret.clone(),
            environment: self.environment.as_str().to_owned(),
        };
        Secret::new(serde_json::to_string(&stored).unwrap_or_default())
    }

    /// Reads keys, and says what is wrong with them.
    pub fn read(secret: &Secret) -> Result<Keys, BankError> {
        let stored: StoredKeys = serde_json::from_str(secret.expose())
            .map_err(|_| BankError::invalid("Enter a client id, a secret and an environment."))?;
        let environment = Environment::parse(&stored.environment)
            .ok_or_else(|| BankError::invalid("The environment is sandbox or production."))?;
        let [client_id, secret] = [stored.client_id, stored.secret].map(|it| it.trim().to_owned());
        let is_key = |it: &str| {
            (8..=128).contains(&it.len()) && it.bytes().all(|it| it.is_ascii_alphanumeric())
        };
        if !is_key(&client_id) || !is_key(&secret) {
            return Err(BankError::invalid(
                "Copy the client id and the secret from the page Keys of Plaid's dashboard. Both \
                 have only letters and digits.",
            ));
        }
        Ok(Keys { client_id, secret, environment })
    }
}

impl fmt::Debug for Keys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Keys({}, hidden)", self.environment.as_str())
    }
}

/// Access to one bank login, which Plaid calls an item.
#[derive(Serialize, Deserialize)]
pub(super) struct Access {
    pub(super) access_token: String,
    pub(super) item_id: String,
    pub(super) institution_id: Option<String>,
    pub(super) institution_name: Option<String>,
}

impl Access {
    pub(super) fn read(secret: &Secret) -> Result<Access, BankError> {
        serde_json::from_str(secret.expose()).map_err(|_| {
            let kind = ErrorKind::NeedsPerson(Some(Remedy::Reconnect));
            BankError::new(kind, UNREADABLE)
        })
    }

    pub(super) fn to_secret(&self) -> Secret {
        Secret::new(serde_json::to_string(self).unwrap_or_default())
    }

    pub(super) fn institution(&self) -> Option<Institution> {
        let (id, name) = (self.institution_id.clone()?, self.institution_name.clone()?);
        Some(Institution { id, name })
    }
}

pub(super) const UNREADABLE: &str = "Evenkeel can't read its stored access to Plaid. Connect this bank again. Your accounts \
     and their history stay.";
