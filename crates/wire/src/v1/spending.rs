//! Spending by category, merchant, account or month, and amounts that totals leave out.

use serde::Serialize;
use utoipa::ToSchema;

use crate::json::{Day, Number};

/// Spending over some days, in the person's base currency. Spending is money out, with refunds subtracted in the category
/// of the purchase; transfers between own accounts and debt payments towards a linked account are left out.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Spending {
    #[schema(example = "USD")]
    pub currency: String,
    pub start_date: Day,
    /// Inclusive.
    pub end_date: Day,
    #[schema(example = "category")]
    pub group_by: &'static str,
    pub totals: SpendingTotals,
    /// Largest first; months oldest first.
    pub groups: Vec<SpendingGroup>,
    /// The groups beyond `limit` as one; null if all are listed.
    pub other: Option<SpendingGroup>,
    /// Null unless `compare` is given.
    pub comparison: Option<SpendingComparison>,
    /// Spending that is in no total because there is no exchange rate for its currency.
    pub excluded: Vec<Excluded>,
}

/// The totals of a period; null as long as there are no transactions at all.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct SpendingTotals {
    #[schema(example = json!(3120.44))]
    pub spending: Option<Number>,
    /// What the income analysis counts as income.
    #[schema(example = json!(6120.00))]
    pub income: Option<Number>,
    /// Money in that is neither income, transfer nor refund as far as is known.
    #[schema(example = json!(40.00))]
    pub unclassified: Option<Number>,
    /// The number of transactions that are spending or refunds of it.
    #[schema(example = json!(82))]
    pub transaction_count: i64,
}

#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct SpendingGroup {
    /// A category code, a merchant's name, an account id or a month such as 2026-04.
    #[schema(example = "FOOD_AND_DRINK")]
    pub key: String,
    #[schema(example = "Food and drink")]
    pub label: String,
    /// Negative if refunds exceed the purchases.
    #[schema(example = json!(640.12))]
    pub amount: Number,
    /// Percentage of the total spending; null if there is none.
    #[schema(example = json!(20.51))]
    pub percent: Option<Number>,
    #[schema(example = json!(31))]
    pub transaction_count: i64,
    /// The same group in the earlier period; null without a comparison, and for months.
    #[schema(example = json!(590.00))]
    pub previous_amount: Option<Number>,
    /// Null without a comparison, and if there was no spending before.
    #[schema(example = json!(8.49))]
    pub change_percent: Option<Number>,
}

/// The earlier period that the spending is compared with.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct SpendingComparison {
    pub start_date: Day,
    pub end_date: Day,
    pub totals: SpendingTotals,
    /// The change of spending since the earlier period.
    #[schema(example = json!(-112.30))]
    pub change: Option<Number>,
    /// Null if there was no spending before.
    #[schema(example = json!(-3.47))]
    pub change_percent: Option<Number>,
    pub excluded: Vec<Excluded>,
}

/// An amount that is in no total because there is no exchange rate for its currency.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Excluded {
    #[schema(example = "CHF")]
    pub currency: String,
    /// In that currency.
    #[schema(example = json!(250.00))]
    pub amount: Number,
    #[schema(example = json!(1))]
    pub account_count: usize,
}
