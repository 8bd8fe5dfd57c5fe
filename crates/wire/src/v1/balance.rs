//! The daily balances of an account.

use serde::Serialize;
use utoipa::ToSchema;

use crate::json::{Day, Number};

/// The end-of-day balances of one account, oldest first, one row per day.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Balances {
    #[schema(example = "acc_01kny3v1m8f2x9q4t7r5c6b8de")]
    pub account_id: String,
    #[schema(example = "USD")]
    pub currency: String,
    pub start_date: Day,
    pub end_date: Day,
    pub balances: Vec<DailyBalance>,
}

#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct DailyBalance {
    pub date: Day,
    #[schema(example = json!(4302.17))]
    pub balance_current: Number,
    pub balance_available: Option<Number>,
    pub balance_limit: Option<Number>,
    #[schema(example = "reported")]
    pub source: &'static str,
    /// The part of the day's balance change that no transaction explains; null if transactions explain all of it.
    pub unexplained_change: Option<Number>,
}
