//! What can go wrong, in the product's own terms. No status code is known here.

use std::sync::Arc;

use wire::v1::{Code, Scope, UnknownScope};

pub type Result<T, E = Error> = std::result::Result<T, E>;

#[derive(Clone, Debug, thiserror::Error)]
pub enum Error {
    #[error("there is no such {0}")]
    NotFound(&'static str),
    /// The caller's mistake, and how to mend it.
    #[error("{message}")]
    Invalid { param: Option<String>, message: String },
    /// No token, or none that is good; the reason is fit to be told.
    #[error("{0}")]
    Unauthenticated(&'static str),
    #[error("this token lacks the scope {0}")]
    Forbidden(Scope),
    #[error("this takes an API key; an app's token cannot do it, whatever its scopes")]
    KeyRequired,
    /// The present state does not allow it; the code says which way.
    #[error("{message}")]
    Conflict { code: Code, message: String },
    /// Too many of what was counted.
    #[error("too many {what}; try again in {retry_after_seconds} seconds")]
    Limited { retry_after_seconds: i64, what: &'static str },
    /// A read took longer than reads may.
    #[error(
        "this takes too long; ask for less, for example for fewer days or for one account, or try again later"
    )]
    TooSlow,
    #[error("the database cannot be used right now")]
    Unavailable(#[source] db::Error),
    #[error("something went wrong inside")]
    Internal(#[source] Arc<dyn std::error::Error + Send + Sync>),
}

impl Error {
    pub fn invalid(param: &str, message: impl Into<String>) -> Error {
        Error::Invalid { param: Some(param.to_owned()), message: message.into() }
    }

    pub fn internal(message: impl Into<String>) -> Error {
        Error::Internal(Arc::from(Box::<dyn std::error::Error + Send + Sync>::from(message.into())))
    }
}

impl From<webhooks::Error> for Error {
    fn from(error: webhooks::Error) -> Error {
        match error {
            webhooks::Error::NotFound(what) => Error::NotFound(what),
            webhooks::Error::Invalid { param, message } => Error::invalid(param, message),
            webhooks::Error::Conflict { code, message } => Error::Conflict { code, message },
            webhooks::Error::Database(error) => error.into(),
            webhooks::Error::Internal(source) => Error::Internal(source),
        }
    }
}

/// For the audit entries that the service writes in a transaction of the webhooks crate.
impl From<Error> for webhooks::Error {
    fn from(error: Error) -> webhooks::Error {
        match error {
            Error::Unavailable(error) => webhooks::Error::Database(error),
            Error::Internal(source) => webhooks::Error::Internal(source),
            other => webhooks::Error::Internal(Arc::new(other)),
        }
    }
}

impl From<UnknownScope> for Error {
    fn from(error: UnknownScope) -> Error {
        Error::invalid("scopes", error.to_string())
    }
}

impl From<db::Error> for Error {
    fn from(error: db::Error) -> Error {
        match error {
            db::Error::Unavailable(_) => Error::Unavailable(error),
            db::Error::TimedOut => Error::TooSlow,
            other => Error::Internal(Arc::new(other)),
        }
    }
}
