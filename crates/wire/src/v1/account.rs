//! Accounts with their balances.

use serde::Serialize;
use utoipa::ToSchema;

use crate::json::{Day, Moment, Number};

/// A linked account. Values that the institution does not provide are null.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Account {
    #[schema(example = "acc_01kny3v1m8f2x9q4t7r5c6b8de")]
    pub id: String,
    #[schema(example = "Everyday Checking")]
    pub name: String,
    /// The last digits of the account number.
    #[schema(example = "4821")]
    pub mask: Option<String>,
    #[schema(example = "depository")]
    pub r#type: &'static str,
    /// Plaid's subtype: checking, savings, credit card, mortgage, brokerage, 401k and so on.
    #[schema(example = "checking")]
    pub subtype: Option<String>,
    #[schema(example = "open")]
    pub status: &'static str,
    #[schema(example = "connected")]
    pub connection_status: String,
    pub hidden: bool,
    /// ISO 4217.
    #[schema(example = "USD")]
    pub currency: String,
    #[schema(example = json!(4218.55))]
    pub balance_available: Option<Number>,
    /// The balance; for credit and loan accounts the amount owed, as a positive number.
    #[schema(example = json!(4302.17))]
    pub balance_current: Option<Number>,
    /// The credit limit, if there is one.
    pub balance_limit: Option<Number>,
    /// Annual interest rate in percent.
    pub interest_rate_percentage: Option<Number>,
    /// Annual yield as displayed by the institution.
    #[schema(example = "4.20%")]
    pub apy_percent_display: Option<String>,
    pub next_payment_due_date: Option<Day>,
    #[schema(example = "Harbor Federal Bank")]
    pub institution_name: Option<String>,
    pub institution_logo: Option<String>,
    #[schema(example = "demo")]
    pub external_source: String,
    /// The time of the balance; null before the first balance is known.
    pub as_of: Option<Moment>,
    pub updated_at: Moment,
}

#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Accounts {
    pub accounts: Vec<Account>,
}
