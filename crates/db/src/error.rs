//! Database errors, grouped by what the caller can do about them.

use std::sync::Arc;

use tokio_postgres::error::SqlState;

pub type Result<T, E = Error> = std::result::Result<T, E>;

type Source = Arc<dyn std::error::Error + Send + Sync>;

#[derive(Clone, Debug, thiserror::Error)]
pub enum Error {
    /// A retry may help: the server is unreachable, the disk is full, or the file is locked.
    #[error("the database cannot be used right now")]
    Unavailable(#[source] Source),
    /// A read exceeded its time limit; a smaller query may succeed.
    #[error("the query took too long")]
    TimedOut,
    /// A unique constraint was violated. Constraints are not named, because SQLite does not report their names.
    #[error("the value already exists")]
    Unique,
    #[error("the row refers to a missing row, or is referred to by another")]
    ForeignKey,
    /// A stored value is not one this program knows.
    #[error("column {column}: {reason}")]
    Decode { column: usize, reason: String },
    #[error("the database refused a statement")]
    Internal(#[source] Source),
}

impl Error {
    pub fn unavailable(message: impl Into<String>) -> Error {
        Error::Unavailable(Arc::from(Box::<dyn std::error::Error + Send + Sync>::from(
            message.into(),
        )))
    }

    /// Whether PostgreSQL canceled the statement because of a timeout.
    pub(crate) fn is_canceled_statement(&self) -> bool {
        let Error::Unavailable(source) = self else { return false };
        let error = source.downcast_ref::<tokio_postgres::Error>();
        error.and_then(tokio_postgres::Error::code) == Some(&SqlState::QUERY_CANCELED)
    }

    pub(crate) fn internal(message: impl Into<String>) -> Error {
        Error::Internal(Arc::from(Box::<dyn std::error::Error + Send + Sync>::from(message.into())))
    }
}

impl From<rusqlite::Error> for Error {
    fn from(error: rusqlite::Error) -> Error {
        use rusqlite::ErrorCode as Code;
        use rusqlite::ffi;
        let rusqlite::Error::SqliteFailure(failure, _) = &error else {
            return Error::Internal(Arc::new(error));
        };
        match (failure.code, failure.extended_code) {
            (_, ffi::SQLITE_CONSTRAINT_UNIQUE | ffi::SQLITE_CONSTRAINT_PRIMARYKEY) => Error::Unique,
            (_, ffi::SQLITE_CONSTRAINT_FOREIGNKEY) => Error::ForeignKey,
            // Queries are only interrupted by the deadline of a read.
            (Code::OperationInterrupted, _) => Error::TimedOut,
            (
                Code::DatabaseBusy
                | Code::DatabaseLocked
                | Code::DiskFull
                | Code::SystemIoFailure
                | Code::CannotOpen
                | Code::ReadOnly
                | Code::OutOfMemory,
                _,
            ) => Error::Unavailable(Arc::new(error)),
            _ => Error::Internal(Arc::new(error)),
        }
    }
}

impl From<tokio_postgres::Error> for Error {
    fn from(error: tokio_postgres::Error) -> Error {
        let Some(code) = error.code().map(|it| it.code().to_owned()) else {
            // No code means no answer from the server: the connection broke or was refused. Errors of our own side (a
            // value, a column, the number of parameters) can only be told apart by their text.
            let text = error.to_string();
            let ours = ["serializing", "column", "parameters"].iter().any(|it| text.contains(it));
            let source = Arc::new(error);
            return if ours { Error::Internal(source) } else { Error::Unavailable(source) };
        };
        match code.as_str() {
            "23505" => Error::Unique,
            "23503" => Error::ForeignKey,
            // Connection errors, serialization conflicts, insufficient resources, operator intervention, system errors.
            code if ["08", "40", "53", "57", "58"].contains(&&code[..2]) || code == "55P03" => {
                Error::Unavailable(Arc::new(error))
            }
            _ => Error::Internal(Arc::new(error)),
        }
    }
}
