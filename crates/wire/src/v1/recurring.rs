//! Recurring payments and deposits, with their totals.

use serde::Serialize;
use utoipa::ToSchema;

use super::{ExchangeRate, Excluded};
use crate::json::{Day, Moment, Number};

/// A recurring series of payments or deposits.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Stream {
    #[schema(example = "rec_01kny3v1m8f2x9q4t7r5c6b8de")]
    pub id: String,
    #[schema(example = "Netflix")]
    pub name: String,
    #[schema(example = "Netflix")]
    pub counterparty_name: Option<String>,
    pub counterparty_logo_url: Option<String>,
    #[schema(example = "acc_01kny3v1m8f2x9q4t7r5c6b8de")]
    pub account_id: String,
    #[schema(example = "Everyday Checking")]
    pub account_name: String,
    /// ISO 4217.
    #[schema(example = "USD")]
    pub currency: String,
    #[schema(example = "outflow")]
    pub cash_flow_direction: &'static str,
    #[schema(example = "subscription")]
    pub stream_type: &'static str,
    #[schema(example = "TV and movies")]
    pub category_label: Option<&'static str>,
    #[schema(example = "ENTERTAINMENT")]
    pub category_tier1: Option<&'static str>,
    #[schema(example = "ENTERTAINMENT_TV_AND_MOVIES")]
    pub category_tier2: Option<&'static str>,
    #[schema(example = "monthly")]
    pub frequency: &'static str,
    #[schema(example = "active")]
    pub status: &'static str,
    #[schema(example = "mature")]
    pub confidence: &'static str,
    /// The median of the last six amounts; always positive, like all amounts of a stream.
    #[schema(example = json!(17.99))]
    pub average_amount: Number,
    #[schema(example = json!(17.99))]
    pub last_amount: Number,
    #[schema(example = json!(15.49))]
    pub min_amount: Number,
    #[schema(example = json!(17.99))]
    pub max_amount: Number,
    /// Whether the amount varies, apart from price changes.
    pub amount_is_variable: bool,
    /// The amount per average month.
    #[schema(example = json!(17.99))]
    pub monthly_amount: Number,
    pub first_date: Day,
    pub last_date: Day,
    /// The expected date of the next one. In the past if it is overdue; null if the stream has ended.
    pub next_expected_date: Option<Day>,
    #[schema(example = json!(14))]
    pub occurrence_count: i64,
    /// Newest first, at most 24.
    #[schema(example = json!(["txn_01kny3v1m8f2x9q4t7r5c6b8de"]))]
    pub transaction_ids: Vec<String>,
    /// Oldest first.
    pub price_changes: Vec<PriceChange>,
    /// Dates on which one was due and did not arrive, oldest first.
    pub missed_dates: Vec<Day>,
    pub updated_at: Moment,
}

#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct PriceChange {
    pub date: Day,
    #[schema(example = json!(15.49))]
    pub from_amount: Number,
    #[schema(example = json!(17.99))]
    pub to_amount: Number,
}

/// Totals of the active streams per average month, in the person's base currency.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct StreamTotals {
    #[schema(example = json!(6120.00))]
    pub monthly_inflow: Number,
    #[schema(example = json!(3480.25))]
    pub monthly_outflow: Number,
    #[schema(example = json!(2639.75))]
    pub monthly_net: Number,
    /// The net monthly amount of streams that are in no total because there is no exchange rate for their currency.
    pub excluded: Vec<Excluded>,
}

#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Recurring {
    pub as_of: Moment,
    pub totals: StreamTotals,
    /// The exchange rates of the totals.
    pub exchange_rates: Vec<ExchangeRate>,
    pub streams: Vec<Stream>,
}
