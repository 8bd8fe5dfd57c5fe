use serde::Serialize;
use utoipa::ToSchema;

use crate::json::{Day, Moment, Number};

/// Something a card gives, in its present cycle.
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
    /// What it is spent on, such as dining or travel.
    #[schema(example = "dining")]
    pub category: &'static str,
    /// credit, points, membership, insurance or perk.
    #[schema(example = "credit")]
    pub benefit_type: &'static str,
    /// monthly, quarterly, semi_annual, annual, every_4_years or one_time.
    #[schema(example = "semi_annual")]
    pub frequency: &'static str,
    /// calendar or anniversary.
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
    /// Today counts: 1 on the last day.
    #[schema(example = json!(46))]
    pub days_until_expiry: i64,
    /// available, partially_used, used, expired or not_usable.
    #[schema(example = "partially_used")]
    pub status: &'static str,
    /// Whether the card's holder must switch it on with the issuer first.
    pub activation_required: bool,
    /// Whether it is known to be switched on: a credit was seen, or the person said so.
    pub activated: bool,
    /// Whether use shows in the account's transactions. Where it does not, only the person can say.
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
    /// Of the present cycles, as the two that follow.
    #[schema(example = json!(690.00))]
    pub total_amount: Number,
    #[schema(example = json!(240.00))]
    pub used_amount: Number,
    #[schema(example = json!(450.00))]
    pub remaining_amount: Number,
    /// What was used since the year began, minus the fees.
    #[schema(example = json!(-210.00))]
    pub net_value: Number,
    /// Benefits with something left whose cycle ends within 30 days.
    #[schema(example = json!(3))]
    pub expiring_count: usize,
    #[schema(example = json!(62.50))]
    pub expiring_amount: Number,
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
    pub benefits: Vec<Benefit>,
}
