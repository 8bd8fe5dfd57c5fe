//! The public API contract: JSON types, error codes, scopes and event types.

pub mod json;
pub mod v1;
