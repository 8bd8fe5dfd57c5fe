use std::collections::BTreeMap;

use serde::Serialize;
use utoipa::ToSchema;

use crate::json::{Day, Moment, Number};

/// What comes in each month, and where it goes. All amounts are monthly, in the person's base currency.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Income {
    pub generated_at: Moment,
    pub window: IncomeWindow,
    /// The mean of the window's months, with paychecks spread as their schedule says.
    #[schema(example = json!(6120.44))]
    pub monthly_income: Number,
    pub variability: Variability,
    pub expenses: IncomeBlock,
    pub debt: IncomeBlock,
    pub emergency_fund: IncomeBlock,
    pub investments: IncomeBlock,
    /// What is left of the income after the four blocks; negative when they are more than came in.
    #[schema(example = json!(412.10))]
    pub unallocated: Number,
}

/// Whole months, both days included.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct IncomeWindow {
    pub start: Day,
    pub end: Day,
    #[schema(example = json!(12))]
    pub months: i64,
}

/// How much the months differ.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Variability {
    #[schema(example = json!(5980.00))]
    pub min: Number,
    #[schema(example = json!(6400.00))]
    pub max: Number,
    #[schema(example = json!(420.00))]
    pub range: Number,
}

#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct IncomeBlock {
    #[schema(example = json!(2650.00))]
    pub amount: Number,
    /// Of the monthly income; 0 when there is none.
    #[schema(example = json!(65.9))]
    pub percent: Number,
    /// By label. For expenses and debt the amounts add up to the block's, to the cent.
    pub breakdown: BTreeMap<String, IncomePart>,
}

#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(untagged)]
pub enum IncomePart {
    Share {
        #[schema(example = json!(640.12))]
        amount: Number,
        /// Of the monthly income; 0 when there is none.
        #[schema(example = json!(10.5))]
        percent: Number,
    },
    /// A plain figure, such as how many months of need the fund covers; null when it cannot be said.
    Figure(Option<Number>),
}
