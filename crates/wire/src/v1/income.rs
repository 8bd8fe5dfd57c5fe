//! Monthly income and how it is used.

use std::collections::BTreeMap;

use serde::Serialize;
use utoipa::ToSchema;

use super::Excluded;
use crate::json::{Day, Moment, Number};

/// Monthly income and how it is used. All amounts are monthly, in the person's base currency, and null as long as there
/// are no transactions.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Income {
    pub generated_at: Moment,
    pub window: IncomeWindow,
    /// The average over the months of the window, with paychecks spread according to their schedule.
    #[schema(example = json!(6120.44))]
    pub monthly_income: Option<Number>,
    pub variability: Variability,
    pub expenses: IncomeBlock,
    pub debt: IncomeBlock,
    pub emergency_fund: IncomeBlock,
    pub investments: IncomeBlock,
    /// Income minus the four blocks; negative if they exceed the income.
    #[schema(example = json!(412.10))]
    pub unallocated: Option<Number>,
    /// Money in that is neither income, transfer nor refund as far as is known, per month. It is not part of the income.
    #[schema(example = json!(40.00))]
    pub unclassified: Option<Number>,
    /// Money in per month that is in no amount because there is no exchange rate for its currency. Spending in such a
    /// currency is left out too.
    pub excluded: Vec<Excluded>,
}

/// Whole months; both dates are inclusive.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct IncomeWindow {
    pub start: Day,
    pub end: Day,
    #[schema(example = json!(12))]
    pub months: i64,
}

/// How much the income varies between months.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Variability {
    #[schema(example = json!(5980.00))]
    pub min: Option<Number>,
    #[schema(example = json!(6400.00))]
    pub max: Option<Number>,
    #[schema(example = json!(420.00))]
    pub range: Option<Number>,
}

#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct IncomeBlock {
    #[schema(example = json!(2650.00))]
    pub amount: Option<Number>,
    /// Percentage of the monthly income; null if there is no income.
    #[schema(example = json!(65.9))]
    pub percent: Option<Number>,
    /// Amounts by label. For expenses and debt they add up exactly to the block's amount.
    pub breakdown: BTreeMap<String, IncomePart>,
}

#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(untagged)]
pub enum IncomePart {
    Share {
        /// Null if the balance is not known.
        #[schema(example = json!(640.12))]
        amount: Option<Number>,
        /// Percentage of the monthly income; null if there is no income.
        #[schema(example = json!(10.5))]
        percent: Option<Number>,
    },
    /// A key figure, such as how many months of expenses the fund covers; null if it cannot be calculated.
    Figure(Option<Number>),
}
