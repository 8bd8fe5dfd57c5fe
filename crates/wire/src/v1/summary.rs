//! The overview of a household.

use serde::Serialize;
use utoipa::ToSchema;

use super::{ExchangeRate, Excluded, Scores};
use crate::json::{Day, Moment, Number};

/// An overview of the household in the person's base currency. Hidden accounts are excluded.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Summary {
    pub as_of: Moment,
    #[schema(example = "USD")]
    pub currency: String,
    /// Null if no balance is known.
    #[schema(example = json!(184220.15))]
    pub net_worth: Option<Number>,
    #[schema(example = json!(240100.40))]
    pub total_assets: Option<Number>,
    #[schema(example = json!(55880.25))]
    pub total_liabilities: Option<Number>,
    /// The change over the last 30 days; null if there are no balances from 30 days ago.
    pub net_worth_change: Option<NetWorthChange>,
    pub breakdown: Vec<BreakdownPart>,
    /// Balances that are in no total because there is no exchange rate for their currency.
    pub excluded: Vec<Excluded>,
    /// The newest exchange rates of the accounts in other currencies. The cash flow uses the rate of each day.
    pub exchange_rates: Vec<ExchangeRate>,
    pub accounts: AccountCounts,
    pub cash_flow: CashFlow,
    pub investments: SummaryInvestments,
    pub goals: SummaryGoals,
    pub recurring: SummaryRecurring,
    /// Null while there is too little data.
    pub scores: Option<Scores>,
    /// The number of actions that wait for the person's decision.
    #[schema(example = json!(0))]
    pub pending_actions: i64,
}

#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct NetWorthChange {
    #[schema(example = json!(1240.10))]
    pub amount: Number,
    /// Null when it was zero before.
    #[schema(example = json!(0.68))]
    pub percent: Option<Number>,
    pub since: Day,
}

/// The total of accounts of one type; debts are negative.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct BreakdownPart {
    #[schema(example = "depository")]
    pub r#type: &'static str,
    /// Null if no balance of this type is known.
    #[schema(example = json!(24310.02))]
    pub amount: Option<Number>,
    #[schema(example = json!(3))]
    pub account_count: usize,
}

#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct AccountCounts {
    #[schema(example = json!(11))]
    pub open: usize,
    #[schema(example = json!(1))]
    pub closed: usize,
    #[schema(example = json!(1))]
    pub hidden: usize,
    #[schema(example = json!(0))]
    pub needs_attention: usize,
    /// The time of the oldest balance among the open accounts; null if none has a balance.
    pub oldest_as_of: Option<Moment>,
}

/// Income and spending of the last 30 days, as GET /spending defines them; null as long as there are no transactions.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct CashFlow {
    pub window: Window,
    #[schema(example = json!(6120.00))]
    pub income: Option<Number>,
    #[schema(example = json!(4210.55))]
    pub expenses: Option<Number>,
    /// Money in that is neither income, transfer nor refund as far as is known.
    #[schema(example = json!(40.00))]
    pub unclassified: Option<Number>,
    #[schema(example = json!(1909.45))]
    /// Income less expenses.
    pub net: Option<Number>,
    /// Null without income.
    #[schema(example = json!(31.2))]
    pub savings_rate_percent: Option<Number>,
    /// Spending that is in no amount because there is no exchange rate for its currency.
    pub excluded: Vec<Excluded>,
}

#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Window {
    pub start: Day,
    pub end: Day,
}

#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct SummaryInvestments {
    /// Null if there are no holdings, or none has a price.
    #[schema(example = json!(128400.00))]
    pub current_value: Option<Number>,
    pub day_change: Option<Number>,
    pub day_change_percent: Option<Number>,
    pub total_gain_loss: Option<Number>,
    pub total_gain_loss_percent: Option<Number>,
    /// Holdings that are in no amount because there is no exchange rate for their currency.
    pub excluded: Vec<Excluded>,
}

/// Active goals.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct SummaryGoals {
    #[schema(example = json!(3))]
    pub active: usize,
    /// Null if no goal is active.
    #[schema(example = json!(48000.00))]
    pub target_amount: Option<Number>,
    /// Null if the value of no active goal is known.
    #[schema(example = json!(19120.44))]
    pub current_value: Option<Number>,
    /// The target amounts of goals that are in no amount because there is no exchange rate for their currency, and the
    /// number of accounts linked to them.
    pub excluded: Vec<Excluded>,
}

#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct SummaryRecurring {
    #[schema(example = json!(6120.00))]
    pub monthly_inflow: Number,
    #[schema(example = json!(3480.25))]
    pub monthly_outflow: Number,
    /// The next one due today or later; null if there is none.
    pub next_outflow: Option<NextOutflow>,
    /// The net monthly amount of streams that are in no amount because there is no exchange rate for their currency.
    pub excluded: Vec<Excluded>,
}

#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct NextOutflow {
    #[schema(example = "Netflix")]
    pub name: String,
    pub date: Day,
    #[schema(example = json!(17.99))]
    pub amount: Number,
}
