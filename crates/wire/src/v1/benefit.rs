//! Card benefits, with their totals.

use serde::Serialize;
use utoipa::ToSchema;

use super::Excluded;
use crate::json::{Day, Moment, Number};

/// A benefit of a card, in its current cycle.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Benefit {
    #[schema(example = "ben_01kny3v1m8f2x9q4t7r5c6b8de")]
    pub id: String,
    #[schema(example = "acc_01kny3v1m8f2x9q4t7r5c6b8de")]
    pub account_id: String,
    #[schema(example = "Platinum Card")]
    pub account_name: String,
    #[schema(example = "American Express")]
    pub institution_name: Option<String>,
    #[schema(example = "Dining credit")]
    pub name: String,
    #[schema(
        example = "Up to $50 from January to June and again from July to December at Resy restaurants."
    )]
    pub description: String,
    #[schema(example = "dining")]
    pub category: &'static str,
    #[schema(example = "credit")]
    pub benefit_type: &'static str,
    #[schema(example = "semi_annual")]
    pub frequency: &'static str,
    #[schema(example = "calendar")]
    pub cycle_alignment: &'static str,
    pub cycle_start: Day,
    pub cycle_end: Day,
    /// ISO 4217.
    #[schema(example = "USD")]
    pub currency: String,
    #[schema(example = json!(50.00))]
    pub total_amount: Number,
    #[schema(example = json!(12.50))]
    pub used_amount: Number,
    #[schema(example = json!(37.50))]
    pub remaining_amount: Number,
    /// The last day of the cycle.
    pub expires_on: Day,
    /// Days left; 0 on the last day.
    #[schema(example = json!(46))]
    pub days_until_expiry: i64,
    #[schema(example = "partially_used")]
    pub status: &'static str,
    /// Whether the cardholder must activate it with the issuer first.
    pub activation_required: bool,
    /// Whether it is known to be activated: a credit was found, or the person confirmed it.
    pub activated: bool,
    /// Whether its use can be detected in the account's transactions. If not, only the person can record it.
    pub observable: bool,
    pub updated_at: Moment,
}

#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct BenefitTotals {
    #[schema(example = json!(2))]
    pub card_count: usize,
    #[schema(example = json!(14))]
    pub benefit_count: usize,
    #[schema(example = json!(1220.00))]
    pub annual_fees: Number,
    /// For the current cycles, like the next two fields.
    #[schema(example = json!(690.00))]
    pub total_amount: Number,
    #[schema(example = json!(240.00))]
    pub used_amount: Number,
    #[schema(example = json!(450.00))]
    pub remaining_amount: Number,
    /// The value used since the start of the year, minus annual fees.
    #[schema(example = json!(-210.00))]
    pub net_value: Number,
    /// Benefits with a remaining value whose cycle ends within 30 days.
    #[schema(example = json!(3))]
    pub expiring_count: usize,
    #[schema(example = json!(62.50))]
    pub expiring_amount: Number,
    /// The amounts left of cards that are in no total because there is no exchange rate for their currency.
    pub excluded: Vec<Excluded>,
}

#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct CardBenefits {
    #[schema(example = "acc_01kny3v1m8f2x9q4t7r5c6b8de")]
    pub account_id: String,
    #[schema(example = "Platinum Card")]
    pub account_name: String,
    #[schema(example = "American Express")]
    pub institution_name: Option<String>,
    #[schema(example = "1009")]
    pub mask: Option<String>,
    #[schema(example = json!(895.00))]
    pub annual_fee: Number,
    #[schema(example = json!(690.00))]
    pub total_amount: Number,
    #[schema(example = json!(240.00))]
    pub used_amount: Number,
    #[schema(example = json!(450.00))]
    pub remaining_amount: Number,
    #[schema(example = json!(-210.00))]
    pub net_value: Number,
    pub benefits: Vec<Benefit>,
}

#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct BenefitSummary {
    pub as_of: Moment,
    #[schema(example = "USD")]
    pub currency: String,
    pub totals: BenefitTotals,
    pub cards: Vec<CardBenefits>,
}

#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct BenefitWindow {
    pub start: Day,
    pub end: Day,
    #[schema(example = json!(30))]
    pub days: i64,
}

#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct ExpiringBenefits {
    pub window: BenefitWindow,
    #[schema(example = json!(3))]
    pub count: usize,
    #[schema(example = json!(62.50))]
    pub remaining_amount: Number,
    /// The amounts left that are not in `remaining_amount` because there is no exchange rate for their currency.
    pub excluded: Vec<Excluded>,
    pub benefits: Vec<Benefit>,
}
