//! The errors of operations, in the product's own terms. The HTTP layer maps them to status codes.

use std::sync::Arc;

use wire::v1::{Code, Scopes, UnknownScope};

pub type Result<T, E = Error> = std::result::Result<T, E>;

#[derive(Clone, Debug, thiserror::Error)]
pub enum Error {
    #[error("there is no such {0}")]
    NotFound(&'static str),
    /// The caller's input is invalid. The message says how to fix it.
    #[error("{message}")]
    Invalid { param: Option<String>, message: String },
    /// The credential is missing or invalid. The reason is shown to the caller.
    #[error("{0}")]
    Unauthenticated(&'static str),
    /// The token lacks these scopes.
    #[error("this token lacks the {}", missing_text(*.0))]
    Forbidden(Scopes),
    #[error("this takes an API key; an app's token cannot do it, whatever its scopes")]
    KeyRequired,
    /// The current state does not allow the operation. The code names the conflict.
    #[error("{message}")]
    Conflict { code: Code, message: String },
    /// Another request with the same idempotency key is running.
    #[error("a request with this Idempotency-Key is still running")]
    InProgress { retry_after_seconds: i64 },
    /// A limit is reached; `what` names the things that were counted.
    #[error("too many {what}; try again in {retry_after_seconds} seconds")]
    Limited { retry_after_seconds: i64, what: &'static str },
    /// A key or an app made as many proposals in 24 hours as the person's policy allows.
    #[error(
        "the person allows {most} proposals in 24 hours; try again in {retry_after_seconds} seconds"
    )]
    ProposalLimit { most: i64, retry_after_seconds: i64 },
    /// A read exceeded its time limit.
    #[error(
        "this takes too long; ask for less, for example for fewer days or for one account, or try again later"
    )]
    TooSlow,
    #[error("the database cannot be used right now")]
    Unavailable(#[source] db::Error),
    #[error("an internal error occurred")]
    Internal(#[source] Arc<dyn std::error::Error + Send + Sync>),
}

impl Error {
    pub fn invalid(param: &str, message: impl Into<String>) -> Error {
        Error::Invalid { param: Some(param.to_owned()), message: message.into() }
    }

    /// The database does not answer.
    pub fn unavailable(message: impl Into<String>) -> Error {
        Error::Unavailable(db::Error::unavailable(message))
    }

    pub fn internal(message: impl Into<String>) -> Error {
        Error::Internal(Arc::from(Box::<dyn std::error::Error + Send + Sync>::from(message.into())))
    }

    /// The message followed by the messages of its causes, for the log.
    pub fn with_causes(&self) -> String {
        let mut text = self.to_string();
        let mut source = std::error::Error::source(self);
        while let Some(cause) = source {
            text = format!("{text}: {cause}");
            source = cause.source();
        }
        text
    }
}

/// `scope a`, or `scopes a, b and c`
fn missing_text(scopes: Scopes) -> String {
    let words: Vec<String> = scopes.iter().map(|it| it.to_string()).collect();
    match words.split_last() {
        Some((last, [])) => format!("scope {last}"),
        Some((last, others)) => format!("scopes {} and {last}", others.join(", ")),
        None => "scope".to_owned(),
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
            Error::TooSlow => webhooks::Error::Database(db::Error::TimedOut),
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
