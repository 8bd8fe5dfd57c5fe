use serde::Serialize;
use utoipa::ToSchema;

use crate::json::Day;

/// Whole numbers from 0 to 100. They come from linked accounts only, and are no credit score.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Scores {
    pub observation_date: Day,
    /// Could you get back up after a shock.
    #[schema(example = json!(77))]
    pub recovery: i64,
    /// How much room each month leaves.
    #[schema(example = json!(78))]
    pub capacity: i64,
    /// Does ordinary life stay above water.
    #[schema(example = json!(82))]
    pub baseline: i64,
    /// The three in one: 40 % recovery, 30 % capacity, 30 % baseline.
    #[schema(example = json!(79))]
    pub evenkeel: i64,
}
