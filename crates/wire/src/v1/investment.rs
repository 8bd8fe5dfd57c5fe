//! Holdings by asset class, with their totals.

use serde::Serialize;
use utoipa::ToSchema;

use super::{ExchangeRate, Excluded};
use crate::json::{Moment, Number};

/// Holdings by asset class, with totals.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Investments {
    pub groups: Vec<HoldingGroup>,
    pub account_total: AccountTotal,
    /// The exchange rates of the totals.
    pub exchange_rates: Vec<ExchangeRate>,
}

#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct HoldingGroup {
    #[schema(example = "equity")]
    pub asset_class: &'static str,
    pub holdings: Vec<Holding>,
}

/// One security across all accounts in scope, in its own currency. Unknown values are null, and a holding with an
/// unknown cost has no gain.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Holding {
    /// The same in all accounts, paper accounts included.
    #[schema(example = "sec_01kny3v1m8f2x9q4t7r5c6b8de")]
    pub security_id: String,
    #[schema(example = "VTI")]
    pub symbol: Option<String>,
    #[schema(example = "Vanguard Total Stock Market ETF")]
    pub name: String,
    #[schema(example = "etf")]
    pub security_type: &'static str,
    #[schema(example = "equity")]
    pub asset_class: &'static str,
    /// The name of the security type.
    #[schema(example = "ETF")]
    pub category: &'static str,
    #[schema(example = "USD")]
    pub currency: String,
    #[schema(example = json!(42.125))]
    pub quantity: Number,
    /// The newest price, of an institution or of the market.
    #[schema(example = json!(291.2))]
    pub last_price: Option<Number>,
    pub last_price_at: Option<Moment>,
    #[schema(example = json!(12266.80))]
    pub current_value: Option<Number>,
    pub day_change: Option<Number>,
    /// In percent: 25.5 means 25.5%.
    pub day_change_percent: Option<Number>,
    pub cost_basis_total: Option<Number>,
    pub average_cost_basis: Option<Number>,
    pub total_gain_loss: Option<Number>,
    pub total_gain_loss_percent: Option<Number>,
    /// This holding's share of the total value of all accounts in scope.
    pub percent_of_account: Option<Number>,
}

/// Totals in the person's base currency. Each includes only holdings for which all needed values are known; gain and cost
/// are null if the cost of nothing but cash is known.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct AccountTotal {
    #[schema(example = "USD")]
    pub currency: String,
    #[schema(example = json!(84120.09))]
    pub current_value: Option<Number>,
    pub day_change: Option<Number>,
    pub day_change_percent: Option<Number>,
    pub total_gain_loss: Option<Number>,
    pub total_gain_loss_percent: Option<Number>,
    pub cost_basis_total: Option<Number>,
    /// Holdings that are in no total because there is no exchange rate for their currency.
    pub excluded: Vec<Excluded>,
}
