//! What all responses have in common: metadata, pagination and errors.

use serde::Serialize;
use utoipa::ToSchema;

use crate::json::Moment;

/// Included in every response.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Meta {
    /// Also in the header `X-Request-Id`. Include it when you report a problem with a request.
    #[schema(example = "req_01kny3v1m8f2x9q4t7r5c6b8de")]
    pub request_id: String,
    pub timestamp: Moment,
}

#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Pagination {
    /// The number of items in `data`.
    #[schema(example = 50)]
    pub count: usize,
    pub has_more: bool,
    /// Send it as `cursor` to get the next page; null on the last page.
    pub next_cursor: Option<String>,
    /// The total number of items; only present where it is cheap to compute.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = 3817)]
    pub total_count: Option<i64>,
    #[schema(example = 50)]
    pub limit: usize,
}

/// The body of every error response.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct ErrorBody {
    pub error: ErrorDetail,
    pub meta: Meta,
}

#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct ErrorDetail {
    /// The URL of a page that explains the code and how to recover.
    #[schema(example = "http://127.0.0.1:4680/docs/errors/validation-error")]
    pub r#type: String,
    #[schema(example = "VALIDATION_ERROR")]
    pub code: &'static str,
    #[schema(example = "limit must be a whole number from 1 to 100")]
    pub message: String,
    /// The parameter or field that caused the error, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = "limit")]
    pub param: Option<String>,
}
