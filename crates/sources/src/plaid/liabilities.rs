//! `/liabilities/get`, which is asked only if a card, a student loan or a mortgage was chosen.

use std::collections::HashMap;

use base::{Date, Fixed9};
use serde::Deserialize;
use serde_json::json;

use super::client::Client;
use super::error::PlaidError;
use super::numbers::{self, Number};

/// What Plaid knows of a debt beyond its balance.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Terms {
    /// Yearly, in percent.
    pub(super) interest_rate: Option<Fixed9>,
    pub(super) next_payment_due_on: Option<Date>,
}

#[derive(Deserialize)]
struct LiabilitiesResponse {
    liabilities: Liabilities,
}

#[derive(Deserialize)]
struct Liabilities {
    credit: Option<Vec<Credit>>,
    mortgage: Option<Vec<Mortgage>>,
    student: Option<Vec<Student>>,
}

#[derive(Deserialize)]
struct Credit {
    account_id: Option<String>,
    #[serde(default)]
    aprs: Vec<Apr>,
    next_payment_due_date: Option<String>,
}

#[derive(Deserialize)]
struct Apr {
    apr_percentage: Option<Number>,
    apr_type: Option<String>,
}

#[derive(Deserialize)]
struct Mortgage {
    account_id: Option<String>,
    interest_rate: Option<MortgageRate>,
    next_payment_due_date: Option<String>,
}

#[derive(Deserialize)]
struct MortgageRate {
    percentage: Option<Number>,
}

#[derive(Deserialize)]
struct Student {
    account_id: Option<String>,
    interest_rate_percentage: Option<Number>,
    next_payment_due_date: Option<String>,
}

/// The terms of each debt, by its account.
pub(super) async fn fetch(
    client: &Client<'_>,
    access_token: &str,
) -> Result<HashMap<String, Terms>, PlaidError> {
    let body = json!({ "access_token": access_token });
    let found: LiabilitiesResponse = client.post("/liabilities/get", &body).await?;
    let Liabilities { credit, mortgage, student } = found.liabilities;
    let mut terms = HashMap::new();
    let mut add = |account: Option<String>, rate: Option<&Number>, due: Option<&str>| {
        let (interest_rate, next_payment_due_on) = (numbers::decimal(rate), numbers::date(due));
        if let Some(account) = account {
            terms.insert(account, Terms { interest_rate, next_payment_due_on });
        }
    };
    for card in credit.into_iter().flatten() {
        let is_purchase = |it: &&Apr| it.apr_type.as_deref() == Some("purchase_apr");
        let apr = card.aprs.iter().find(is_purchase).or(card.aprs.first());
        let rate = apr.and_then(|it| it.apr_percentage.as_ref());
        add(card.account_id, rate, card.next_payment_due_date.as_deref());
    }
    for loan in mortgage.into_iter().flatten() {
        let rate = loan.interest_rate.as_ref().and_then(|it| it.percentage.as_ref());
        add(loan.account_id, rate, loan.next_payment_due_date.as_deref());
    }
    for loan in student.into_iter().flatten() {
        let rate = loan.interest_rate_percentage.as_ref();
        add(loan.account_id, rate, loan.next_payment_due_date.as_deref());
    }
    Ok(terms)
}
