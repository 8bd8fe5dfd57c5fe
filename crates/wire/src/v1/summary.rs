use serde::Serialize;
use utoipa::ToSchema;

use super::Scores;
use crate::json::{Day, Moment, Number};

/// An overview of the household in the person's base currency. Hidden accounts are excluded.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Summary {
    pub as_of: Moment,
    #[schema(example = "USD")]
    pub currency: String,
    #[schema(example = json!(184220.15))]
    pub net_worth: Number,
    #[schema(example = json!(240100.40))]
    pub total_assets: Number,
    #[schema(example = json!(55880.25))]
    pub total_liabilities: Number,
    /// The change over the last 30 days; null if there are no balances from 30 days ago.
    pub net_worth_change: Option<NetWorthChange>,
    pub breakdown: Vec<BreakdownPart>,
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
    #[schema(example = json!(24310.02))]
    pub amount: Number,
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

/// Inflows and outflows of the last 30 days, without transfers between own accounts.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct CashFlow {
    pub window: Window,
    #[schema(example = json!(6120.00))]
    pub income: Number,
    #[schema(example = json!(4210.55))]
    pub expenses: Number,
    #[schema(example = json!(1909.45))]
    pub net: Number,
    /// Null without income.
    #[schema(example = json!(31.2))]
    pub savings_rate_percent: Option<Number>,
}

#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Window {
    pub start: Day,
    pub end: Day,
}

#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct SummaryInvestments {
    #[schema(example = json!(128400.00))]
    pub current_value: Number,
    pub day_change: Option<Number>,
    pub day_change_percent: Option<Number>,
    pub total_gain_loss: Option<Number>,
    pub total_gain_loss_percent: Option<Number>,
}

/// Active goals.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct SummaryGoals {
    #[schema(example = json!(3))]
    pub active: usize,
    #[schema(example = json!(48000.00))]
    pub target_amount: Number,
    #[schema(example = json!(19120.44))]
    pub current_value: Number,
}

#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct SummaryRecurring {
    #[schema(example = json!(6120.00))]
    pub monthly_inflow: Number,
    #[schema(example = json!(3480.25))]
    pub monthly_outflow: Number,
    /// The next one due today or later; null if there is none.
    pub next_outflow: Option<NextOutflow>,
}

#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct NextOutflow {
    #[schema(example = "Netflix")]
    pub name: String,
    pub date: Day,
    #[schema(example = json!(17.99))]
    pub amount: Number,
}
