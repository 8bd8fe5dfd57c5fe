//! The person's answers about a file before it is committed.

use std::collections::BTreeMap;

use base::draft::AccountKind;
use base::{AccountId, Currency};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sources::files::csv::Mapping;
use sources::files::{ChargeSign, DateOrder};

/// The person's answers. An answer that is none is read from the file, or asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Choices {
    pub dates: Option<DateOrder>,
    pub charges: Option<ChargeSign>,
    /// The currency of amounts for which the file names none.
    #[serde(serialize_with = "write_currency", deserialize_with = "read_currency")]
    pub currency: Option<Currency>,
    /// The columns of a CSV file.
    pub mapping: Option<Mapping>,
    /// For the accounts of the file, by their index in it.
    pub accounts: BTreeMap<usize, AccountChoice>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct AccountChoice {
    #[serde(rename = "goes")]
    pub destination: Option<DestinationChoice>,
    /// The name of a new account, instead of the file's.
    pub name: Option<String>,
    #[serde(serialize_with = "write_kind", deserialize_with = "read_kind")]
    pub kind: Option<AccountKind>,
    /// Plaid's subtype of that kind, such as savings.
    pub subtype: Option<String>,
    /// Whether an ambiguous balance is owed.
    pub owed: Option<bool>,
}

/// The account to import an account of a file into.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DestinationChoice {
    New,
    Existing(AccountId),
    /// It is not imported.
    Skip,
}

impl DestinationChoice {
    /// The text in forms and in the database.
    pub fn text(self) -> String {
        match self {
            DestinationChoice::New => "new".to_owned(),
            DestinationChoice::Existing(id) => id.to_string(),
            DestinationChoice::Skip => "none".to_owned(),
        }
    }

    pub fn parse(text: &str) -> Option<DestinationChoice> {
        match text {
            "new" => Some(DestinationChoice::New),
            "none" => Some(DestinationChoice::Skip),
            id => AccountId::parse(id).ok().map(DestinationChoice::Existing),
        }
    }
}

impl Serialize for DestinationChoice {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&self.text())
    }
}

impl<'de> Deserialize<'de> for DestinationChoice {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<DestinationChoice, D::Error> {
        let text = String::deserialize(from)?;
        DestinationChoice::parse(&text).ok_or_else(|| serde::de::Error::custom("not a destination"))
    }
}

fn write_currency<S: Serializer>(currency: &Option<Currency>, to: S) -> Result<S::Ok, S::Error> {
    currency.as_ref().map(Currency::code).serialize(to)
}

fn read_currency<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Currency>, D::Error> {
    let code = Option::<String>::deserialize(from)?;
    Ok(code.and_then(|it| Currency::parse(&it).ok()))
}

fn write_kind<S: Serializer>(kind: &Option<AccountKind>, to: S) -> Result<S::Ok, S::Error> {
    kind.map(AccountKind::as_str).serialize(to)
}

fn read_kind<'de, D: Deserializer<'de>>(from: D) -> Result<Option<AccountKind>, D::Error> {
    let word = Option::<String>::deserialize(from)?;
    Ok(word.as_deref().and_then(AccountKind::parse))
}
