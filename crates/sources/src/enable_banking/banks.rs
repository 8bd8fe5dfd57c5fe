//! The banks of a country, from which the person chooses one.

use base::Timestamp;
use serde::Deserialize;

use super::client::Client;
use crate::provider::{BankError, Context, Institution};

/// The longest consent that the European standard allows.
const CONSENT_SECONDS_MAX: i64 = 180 * 86_400;
const CONSENT_SECONDS_MIN: i64 = 86_400;

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(super) struct Bank {
    pub(super) name: String,
    pub(super) country: String,
    /// In seconds.
    #[serde(default)]
    maximum_consent_validity: Option<i64>,
    #[serde(default)]
    psu_types: Option<Vec<String>>,
}

#[derive(Deserialize)]
struct Banks {
    aspsps: Vec<Bank>,
}

/// The banks of a country by name. Their logos are left out, because they are on other servers.
pub(super) async fn list(context: &Context, country: &str) -> Result<Vec<Bank>, BankError> {
    let is_code = country.len() == 2 && country.bytes().all(|it| it.is_ascii_uppercase());
    if !is_code {
        return Err(BankError::invalid("Choose a country by its two letters, such as DE."));
    }
    let client = Client::new(context, None)?;
    let found: Banks = client
        .get(&format!("/aspsps?country={country}"))
        .await
        .map_err(|error| error.for_person())?;
    let mut banks = found.aspsps;
    banks.sort_by_key(|it| it.name.to_lowercase());
    Ok(banks)
}

/// Finds the bank of an institution's id.
pub(super) async fn find(context: &Context, id: &str) -> Result<Bank, BankError> {
    let unknown = || BankError::invalid("This bank is not available any more. Choose it again.");
    let (country, name) = id.split_once(' ').ok_or_else(unknown)?;
    let banks = list(context, country).await?;
    banks.into_iter().find(|it| it.name == name).ok_or_else(unknown)
}

/// The id of a bank: it has none of its own, but is known by its country and its name.
pub(super) fn institution(country: &str, name: &str) -> Institution {
    Institution { id: format!("{country} {name}"), name: name.to_owned() }
}

impl Bank {
    /// The longest consent that the bank and the standard allow.
    pub(super) fn consent_until(&self, now: Timestamp) -> Timestamp {
        let most = self.maximum_consent_validity.unwrap_or(CONSENT_SECONDS_MAX);
        let seconds = most.clamp(CONSENT_SECONDS_MIN, CONSENT_SECONDS_MAX);
        Timestamp::from_second(now.as_second() + seconds).unwrap_or(now)
    }

    /// As a private person if the bank has such access, as most do.
    pub(super) fn person_type(&self) -> &'static str {
        let types = self.psu_types.as_deref().unwrap_or_default();
        let is_personal = types.is_empty() || types.iter().any(|it| it == "personal");
        if is_personal { "personal" } else { "business" }
    }
}
