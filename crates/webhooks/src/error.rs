//! The errors of webhook operations. The layer above maps them onto its own.

use std::sync::Arc;

use wire::v1::Code;

pub type Result<T, E = Error> = std::result::Result<T, E>;

#[derive(Clone, Debug, thiserror::Error)]
pub enum Error {
    #[error("there is no such {0}")]
    NotFound(&'static str),
    /// A value from the caller that cannot be used, and how to correct it.
    #[error("{message}")]
    Invalid { param: &'static str, message: String },
    /// The present state does not allow the operation.
    #[error("{message}")]
    Conflict { code: Code, message: String },
    #[error(transparent)]
    Database(#[from] db::Error),
    #[error("something went wrong inside")]
    Internal(#[source] Arc<dyn std::error::Error + Send + Sync>),
}

impl Error {
    pub(crate) fn invalid(param: &'static str, message: impl Into<String>) -> Error {
        Error::Invalid { param, message: message.into() }
    }

    pub(crate) fn conflict(message: impl Into<String>) -> Error {
        Error::Conflict { code: Code::Conflict, message: message.into() }
    }

    pub(crate) fn internal(message: impl Into<String>) -> Error {
        Error::Internal(Arc::from(Box::<dyn std::error::Error + Send + Sync>::from(message.into())))
    }
}
