//! What can go wrong with a database, by what the caller can do about it.

use std::sync::Arc;

use tokio_postgres::error::SqlState;

type Source = Arc<dyn std::error::Error + Send + Sync>;

#[derive(Clone, Debug, thiserror::Error)]
pub enum Error {
    /// Trying again later may help: the server is away, the disk is full, the file is locked.
    #[error("the database cannot be used right now")]
    Unavailable(#[source] Source),
    /// A read took longer than reads may; asking for less may help.
    #[error("the query took too long")]
    TimedOut,
    /// Two rows claim what only one may have. Kinds, not names: SQLite does not name its constraints.
    #[error("the value is already taken")]
    Unique,
    #[error("the row refers to one that is not there, or is referred to")]
    ForeignKey,
    /// The database holds something this program does not understand.
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

    /// Whether PostgreSQL stopped the statement because its time was up.
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
            // Only the deadline of a read interrupts anything.
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
            // No code means no answer: the connection broke, or the server never took it. What our own side refused
            // (a value, a column, a count of parameters) the driver tells apart only by its words.
            let text = error.to_string();
            let ours = ["serializing", "column", "parameters"].iter().any(|it| text.contains(it));
            let source = Arc::new(error);
            return if ours { Error::Internal(source) } else { Error::Unavailable(source) };
        };
        match code.as_str() {
            "23505" => Error::Unique,
            "23503" => Error::ForeignKey,
            // Connection trouble, rolled-back conflicts, no resources, an operator's stop.
            code if ["08", "40", "53", "57", "58"].contains(&&code[..2]) || code == "55P03" => {
                Error::Unavailable(Arc::new(error))
            }
            _ => Error::Internal(Arc::new(error)),
        }
    }
}
