//! Net worth over time, and the exchange rates of totals.

use std::collections::BTreeMap;

use serde::Serialize;
use utoipa::ToSchema;

use super::Excluded;
use crate::json::{Day, Number};

/// Net worth over time in the person's base currency, at the exchange rates of each day. Hidden accounts are excluded.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct NetWorthHistory {
    #[schema(example = "USD")]
    pub currency: String,
    #[schema(example = "monthly")]
    pub interval: &'static str,
    pub start_date: Day,
    pub end_date: Day,
    /// Oldest first. Days before the first known balance have no point.
    pub points: Vec<NetWorthPoint>,
    /// Current balances that are in no total because there is no exchange rate for their currency.
    pub excluded: Vec<Excluded>,
    /// The newest exchange rates of the accounts in other currencies. Earlier points use the rate of their day, or the
    /// first known one.
    pub exchange_rates: Vec<ExchangeRate>,
}

/// One unit of a currency in the person's base currency.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct ExchangeRate {
    #[schema(example = "EUR")]
    pub currency: String,
    #[schema(example = json!(1.085))]
    pub rate: Number,
    /// The day of the rate.
    pub date: Day,
}

/// The net worth at the end of a day.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct NetWorthPoint {
    pub date: Day,
    #[schema(example = json!(184220.15))]
    pub net_worth: Number,
    #[schema(example = json!(240100.40))]
    pub total_assets: Number,
    #[schema(example = json!(55880.25))]
    pub total_liabilities: Number,
    /// By account type; debts are negative. A type without a known balance on that day is left out.
    pub by_type: BTreeMap<&'static str, Number>,
    /// `inferred` if the balance of an account was worked back from transactions.
    #[schema(example = "reported")]
    pub source: &'static str,
}
