//! Scores of financial health.

use serde::Serialize;
use utoipa::ToSchema;

use crate::json::Day;

/// Financial health scores from 0 to 100. They are calculated from linked accounts only and are not credit scores.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Scores {
    pub observation_date: Day,
    /// How well the household could recover from a financial shock.
    #[schema(example = json!(77))]
    pub recovery: i64,
    /// How much financial room each month leaves.
    #[schema(example = json!(78))]
    pub capacity: i64,
    /// How reliably income covers ordinary expenses.
    #[schema(example = json!(82))]
    pub baseline: i64,
    /// The combined score: 40% recovery, 30% capacity, 30% baseline.
    #[schema(example = json!(79))]
    pub evenkeel: i64,
}
