//! `/investments/holdings/get` and `/investments/transactions/get`, which are asked only if an investment account was
//! chosen.

use std::collections::HashMap;

use base::Date;
use serde::Deserialize;
use serde_json::json;

use super::client::Client;
use super::error::PlaidError;
use super::numbers::Number;

const PAGE: usize = 500;
const MOST_PAGES: usize = 100;

#[derive(Debug, Default)]
pub(super) struct Investments {
    pub(super) holdings: Vec<Holding>,
    pub(super) securities: HashMap<String, Security>,
    pub(super) transactions: Vec<InvestmentTransaction>,
}

#[derive(Debug, Deserialize)]
struct HoldingsResponse {
    holdings: Vec<Holding>,
    securities: Vec<Security>,
}

#[derive(Debug, Deserialize)]
struct TransactionsResponse {
    investment_transactions: Vec<InvestmentTransaction>,
    total_investment_transactions: usize,
    securities: Vec<Security>,
}

#[derive(Debug, Clone, Deserialize)]
pub(super) struct Holding {
    pub(super) account_id: String,
    pub(super) security_id: String,
    pub(super) institution_price: Option<Number>,
    pub(super) institution_value: Option<Number>,
    /// Of the whole position.
    pub(super) cost_basis: Option<Number>,
    pub(super) quantity: Option<Number>,
    pub(super) iso_currency_code: Option<String>,
}

#[derive(Debug, Clone, Deserialize)]
pub(super) struct Security {
    pub(super) security_id: String,
    pub(super) name: Option<String>,
    pub(super) ticker_symbol: Option<String>,
    pub(super) is_cash_equivalent: Option<bool>,
    #[serde(rename = "type")]
    pub(super) kind: Option<String>,
    pub(super) iso_currency_code: Option<String>,
}

#[derive(Debug, Clone, Deserialize)]
pub(super) struct InvestmentTransaction {
    pub(super) investment_transaction_id: String,
    pub(super) account_id: String,
    pub(super) security_id: Option<String>,
    pub(super) date: String,
    pub(super) name: String,
    pub(super) quantity: Option<Number>,
    /// Positive is cash that left.
    pub(super) amount: Option<Number>,
    #[serde(rename = "type")]
    pub(super) kind: String,
    pub(super) subtype: Option<String>,
    pub(super) iso_currency_code: Option<String>,
}

pub(super) async fn fetch(
    client: &Client<'_>,
    access_token: &str,
    (from, to): (Date, Date),
) -> Result<Investments, PlaidError> {
    let body = json!({ "access_token": access_token });
    let found: HoldingsResponse = client.post("/investments/holdings/get", &body).await?;
    let mut all = Investments { holdings: found.holdings, ..Investments::default() };
    all.add_securities(found.securities);
    for _ in 0..MOST_PAGES {
        let body = json!({
            "access_token": access_token,
            "start_date": from.to_string(),
            "end_date": to.to_string(),
            "options": { "count": PAGE, "offset": all.transactions.len() },
        });
        let page: TransactionsResponse =
            client.post("/investments/transactions/get", &body).await?;
        let is_empty = page.investment_transactions.is_empty();
        all.transactions.extend(page.investment_transactions);
        all.add_securities(page.securities);
        if is_empty || all.transactions.len() >= page.total_investment_transactions {
            return Ok(all);
        }
    }
    Err(PlaidError::Unreadable)
}

impl Investments {
    fn add_securities(&mut self, securities: Vec<Security>) {
        self.securities.extend(securities.into_iter().map(|it| (it.security_id.clone(), it)));
    }
}
