//! Paper trading accounts, their holdings, trades and activity.

use serde::Serialize;
use utoipa::ToSchema;

use crate::json::{Day, Moment, Number};

#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct PaperAccounts {
    pub accounts: Vec<PaperAccount>,
}

/// A simulated brokerage account. Values that depend on a price are null while the price is unknown.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct PaperAccount {
    #[schema(example = "01936f9e-7a1c-7c3e-9b0a-5d2f4c8e1a70")]
    pub id: String,
    #[schema(example = "Paper account")]
    pub name: String,
    #[schema(example = "open")]
    pub status: &'static str,
    #[schema(example = "USD")]
    pub currency: String,
    #[schema(example = json!(100000.00))]
    pub starting_cash_balance: Number,
    /// All cash, including cash reserved for pending orders.
    #[schema(example = json!(99438.70))]
    pub cash_balance: Number,
    /// The most that a new order may cost.
    #[schema(example = json!(99438.70))]
    pub buying_power: Number,
    #[schema(example = json!(561.30))]
    pub holdings_value: Option<Number>,
    #[schema(example = json!(100000.00))]
    pub total_value: Option<Number>,
    pub total_gain_loss: Option<Number>,
    /// In percent: 25.5 means 25.5%.
    pub total_gain_loss_percent: Option<Number>,
    pub day_change: Option<Number>,
    pub day_change_percent: Option<Number>,
    #[schema(example = 1)]
    pub holdings_count: i64,
    #[schema(example = 1)]
    pub trade_count: i64,
    pub created_at: Moment,
    pub updated_at: Moment,
    /// The time of the oldest price used; null without holdings.
    pub as_of: Option<Moment>,
}

#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct PaperHoldings {
    pub holdings: Vec<PaperHolding>,
}

#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct PaperHolding {
    #[schema(example = "hld_01kny3v1m8f2x9q4t7r5c6b8de")]
    pub id: String,
    /// The same as in `/investments`.
    #[schema(example = "sec_01kny3v1m8f2x9q4t7r5c6b8de")]
    pub security_id: String,
    #[schema(example = "AAPL")]
    pub symbol: String,
    #[schema(example = "Apple Inc.")]
    pub name: String,
    #[schema(example = "equity")]
    pub security_type: &'static str,
    #[schema(example = "USD")]
    pub currency: String,
    #[schema(example = json!(3))]
    pub quantity: Number,
    #[schema(example = json!(561.30))]
    pub cost_basis: Number,
    /// The newest price, of the market or of an institution where the person holds the same security.
    #[schema(example = json!(187.1))]
    pub institution_price: Option<Number>,
    #[schema(example = json!(561.30))]
    pub institution_value: Option<Number>,
    /// The time of the price.
    pub as_of: Option<Moment>,
}

/// A trade: a buy or a sell.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct PaperTrade {
    #[schema(example = "01936f9e-7a1c-7c3e-9b0a-5d2f4c8e1a78")]
    pub id: String,
    /// Always trade.
    #[schema(example = "trade")]
    pub r#type: &'static str,
    #[schema(example = "buy")]
    pub subtype: &'static str,
    #[schema(example = "Bought 3 AAPL")]
    pub name: String,
    #[schema(example = "AAPL")]
    pub symbol: String,
    /// The date of `created_at` in the person's time zone.
    pub date: Day,
    pub created_at: Moment,
    #[schema(example = json!(3))]
    pub quantity: Number,
    /// The price of one share.
    #[schema(example = json!(187.1))]
    pub price: Number,
    /// The change in cash; negative if cash was paid.
    #[schema(example = json!(-561.30))]
    pub amount: Number,
}

/// A change of cash, reserved cash or shares of a paper account.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct PaperActivity {
    #[schema(example = "01936f9e-7a1c-7c3e-9b0a-5d2f4c8e1a78")]
    pub id: String,
    #[schema(example = "dividend")]
    pub r#type: &'static str,
    #[schema(example = "dividend")]
    pub subtype: &'static str,
    #[schema(example = "Dividend of AAPL")]
    pub name: String,
    /// Null for a deposit or a reservation.
    #[schema(example = "AAPL")]
    pub symbol: Option<String>,
    /// The date of `created_at` in the person's time zone.
    pub date: Day,
    pub created_at: Moment,
    /// The shares traded, the shares that a dividend is paid for, or the shares held after a split; otherwise null.
    #[schema(example = json!(3))]
    pub quantity: Option<Number>,
    /// The price or the dividend of one share; otherwise null.
    #[schema(example = json!(0.26))]
    pub price: Option<Number>,
    /// The change in `cash_balance`; 0 for a reservation, because reserved cash is still cash.
    #[schema(example = json!(0.78))]
    pub amount: Number,
    /// The change in reserved cash. The change in `buying_power` is `amount` minus `reserved_amount`.
    #[schema(example = json!(0.00))]
    pub reserved_amount: Number,
    /// The action of a deposit, a trade or a reservation; otherwise null.
    #[schema(example = "01936f9e-7a1c-7c3e-9b0a-5d2f4c8e1a71")]
    pub action_id: Option<String>,
}
