//! Plaid's accounts: `/accounts/get`, whose balances are cached at Plaid and free.

use base::Money;
use base::draft::AccountKind;
use serde::Deserialize;
use serde_json::json;

use super::client::Client;
use super::error::PlaidError;
use super::numbers::{self, Number};
use crate::provider::{Offer, OwedSign, UnsupportedAccount};

#[derive(Debug, Deserialize)]
pub(super) struct AccountsResponse {
    pub(super) accounts: Vec<Account>,
}

#[derive(Debug, Clone, Deserialize)]
pub(super) struct Account {
    pub(super) account_id: String,
    pub(super) balances: Balances,
    pub(super) mask: Option<String>,
    pub(super) name: String,
    pub(super) official_name: Option<String>,
    #[serde(rename = "type")]
    kind: String,
    pub(super) subtype: Option<String>,
}

#[derive(Debug, Clone, Deserialize)]
pub(super) struct Balances {
    pub(super) available: Option<Number>,
    pub(super) current: Option<Number>,
    pub(super) limit: Option<Number>,
    pub(super) iso_currency_code: Option<String>,
    pub(super) unofficial_currency_code: Option<String>,
}

pub(super) async fn list(
    client: &Client<'_>,
    access_token: &str,
) -> Result<Vec<Account>, PlaidError> {
    let body = json!({ "access_token": access_token });
    let found: AccountsResponse = client.post("/accounts/get", &body).await?;
    Ok(found.accounts)
}

impl Account {
    pub(super) fn kind(&self) -> AccountKind {
        match self.kind.as_str() {
            "depository" => AccountKind::Depository,
            "credit" => AccountKind::Credit,
            "loan" => AccountKind::Loan,
            "investment" | "brokerage" => AccountKind::Investment,
            _ => AccountKind::Other,
        }
    }

    /// The name, with the last digits if it does not have them.
    pub(super) fn label(&self) -> String {
        label(&self.name, self.mask.as_deref())
    }

    pub(super) fn offer(&self, institution: Option<&str>) -> Result<Offer, UnsupportedAccount> {
        let code = self.balances.iso_currency_code.as_deref();
        let Some(currency) = numbers::currency(code) else {
            let unit = code.or(self.balances.unofficial_currency_code.as_deref());
            let unit = unit.map_or_else(String::new, |it| format!(" ({it})"));
            return Err(UnsupportedAccount {
                id: self.account_id.clone(),
                name: self.label(),
                reason: format!(
                    "This account is not in a currency that Evenkeel knows{unit}. It can't be added."
                ),
            });
        };
        let kind = self.kind();
        let current = numbers::money(self.balances.current.as_ref(), currency);
        let balance: Option<Money> =
            current.or_else(|| numbers::money(self.balances.available.as_ref(), currency));
        Ok(Offer {
            external_id: self.account_id.clone(),
            login: None,
            id: self.account_id.clone(),
            name: self.label(),
            institution: institution.map(str::to_owned),
            currency,
            balance,
            kind,
            subtype: self.subtype.clone(),
            // Plaid writes what is owed on cards and loans as a positive number.
            owed: if kind.is_debt() { OwedSign::Positive } else { OwedSign::Negative },
        })
    }
}

pub(super) fn label(name: &str, mask: Option<&str>) -> String {
    match mask {
        Some(mask) if !mask.is_empty() && !name.contains(mask) => format!("{name} ({mask})"),
        _ => name.to_owned(),
    }
}
