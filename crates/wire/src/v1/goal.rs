//! Goals and their progress.

use serde::Serialize;
use utoipa::ToSchema;

use crate::json::{Day, Number};

#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Goal {
    #[schema(example = "goal_01kny3v1m8f2x9q4t7r5c6b8de")]
    pub id: String,
    #[schema(example = "Six months of expenses")]
    pub name: String,
    #[schema(example = "emergency_fund")]
    pub goal_type: &'static str,
    #[schema(example = "active")]
    pub status: &'static str,
    #[schema(example = "USD")]
    pub currency: String,
    #[schema(example = json!(24000.00))]
    pub target_amount: Number,
    /// The current amount: a share of the linked accounts' balances, the amount of a debt paid off since the goal began,
    /// or the net worth. Null if it is not known. Hidden accounts do not count.
    #[schema(example = json!(9120.44))]
    pub current_value: Option<Number>,
    pub target_date: Option<Day>,
}

#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Goals {
    pub goals: Vec<Goal>,
}
