//! The public contract: JSON shapes, error codes, scopes, event types. It knows nothing of how anything works.

pub mod json;
pub mod v1;
