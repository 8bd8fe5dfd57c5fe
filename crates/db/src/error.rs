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
    /// The server cannot be used at all; the message says why and what to do.
    #[error("{0}")]
    Unsupported(String),
    #[error("the database refused a statement")]
    Internal(#[source] Source),
}

/// A failure of PostgreSQL for which its operator can do something.
#[derive(Debug, thiserror::Error)]
enum ServerFault {
    #[error(
        "PostgreSQL accepts no more connections; raise its max_connections, or lower database.connections of each \
         process (`evenkeel doctor` compares them)"
    )]
    OutOfConnections(#[source] tokio_postgres::Error),
    #[error(
        "PostgreSQL is read-only: it is a standby, or its operator stopped writes; point database.url at the primary"
    )]
    ReadOnly(#[source] tokio_postgres::Error),
}

impl Error {
    pub fn unavailable(message: impl Into<String>) -> Error {
        Error::Unavailable(Arc::from(Box::<dyn std::error::Error + Send + Sync>::from(
            message.into(),
        )))
    }

    /// Whether PostgreSQL stopped the statement at its time limit.
    pub fn is_canceled_statement(&self) -> bool {
        self.stopped_with().is_some_and(|it| it == SqlState::QUERY_CANCELED)
    }

    /// Whether the statement gave up waiting for a lock that another transaction holds.
    pub fn is_lock_conflict(&self) -> bool {
        let Error::Unavailable(source) = self else { return false };
        let is_locked = [SqlState::LOCK_NOT_AVAILABLE, SqlState::T_R_DEADLOCK_DETECTED];
        let code = source.downcast_ref::<rusqlite::Error>().and_then(|it| it.sqlite_error_code());
        self.stopped_with().is_some_and(|it| is_locked.contains(&it))
            || matches!(
                code,
                Some(rusqlite::ErrorCode::DatabaseBusy | rusqlite::ErrorCode::DatabaseLocked)
            )
    }

    /// Whether this error means that the server undid the whole transaction because of another one. The transaction can be
    /// run again at once.
    pub fn is_undone_conflict(&self) -> bool {
        let conflicts = [SqlState::T_R_DEADLOCK_DETECTED, SqlState::T_R_SERIALIZATION_FAILURE];
        self.stopped_with().is_some_and(|it| conflicts.contains(&it))
    }

    /// The reason why PostgreSQL stopped a statement.
    fn stopped_with(&self) -> Option<SqlState> {
        let Error::Unavailable(source) = self else { return None };
        source.downcast_ref::<Stopped>().and_then(|it| it.error.code().cloned())
    }

    /// Whether the message of a PostgreSQL server or a pooler contains these words. Poolers have one code for all of
    /// their own errors.
    pub(crate) fn server_says(&self, words: &str) -> bool {
        let (Error::Unavailable(source) | Error::Internal(source)) = self else { return false };
        let error = source.downcast_ref::<tokio_postgres::Error>();
        let error = error.and_then(tokio_postgres::Error::as_db_error);
        error.is_some_and(|it| it.message().contains(words))
    }

    fn server_fault(&self) -> Option<&ServerFault> {
        let Error::Unavailable(source) = self else { return None };
        source.downcast_ref::<ServerFault>()
    }

    /// Whether the server has no connection left for this process.
    pub fn is_out_of_connections(&self) -> bool {
        matches!(self.server_fault(), Some(ServerFault::OutOfConnections(_)))
    }

    /// Whether the server refused a change because it only allows reads.
    pub fn is_read_only_server(&self) -> bool {
        matches!(self.server_fault(), Some(ServerFault::ReadOnly(_)))
    }

    pub(crate) fn internal(message: impl Into<String>) -> Error {
        Error::Internal(Arc::from(Box::<dyn std::error::Error + Send + Sync>::from(message.into())))
    }
}

/// A statement that PostgreSQL stopped, with the reason in plain words.
#[derive(Debug, thiserror::Error)]
#[error("{reason}")]
struct Stopped {
    reason: &'static str,
    #[source]
    error: tokio_postgres::Error,
}

const TIME_LIMIT: &str = "PostgreSQL stopped a statement at its time limit (statement_timeout) and undid the change; try \
    again, and if it happens again look for locks and slow disks on the database server";
const LOCK_LIMIT: &str = "a statement waited too long for a lock of another transaction (lock_timeout), and the change was \
    undone; try again, and if it happens again look for long transactions in pg_stat_activity";
const DEADLOCK: &str =
    "two transactions waited for each other, and PostgreSQL undid this one; try again";

const CONFLICT: &str =
    "another transaction changed the same rows, and PostgreSQL undid this one; try again";

/// Names the reason for the errors with which PostgreSQL stops a statement.
fn stopped(error: tokio_postgres::Error) -> Error {
    let reason = match error.code() {
        Some(code) if *code == SqlState::QUERY_CANCELED => TIME_LIMIT,
        Some(code) if *code == SqlState::LOCK_NOT_AVAILABLE => LOCK_LIMIT,
        Some(code) if *code == SqlState::T_R_DEADLOCK_DETECTED => DEADLOCK,
        Some(code) if *code == SqlState::T_R_SERIALIZATION_FAILURE => CONFLICT,
        _ => return Error::Unavailable(Arc::new(error)),
    };
    Error::Unavailable(Arc::new(Stopped { reason, error }))
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
            "53300" => Error::Unavailable(Arc::new(ServerFault::OutOfConnections(error))),
            "25006" => Error::Unavailable(Arc::new(ServerFault::ReadOnly(error))),
            // Connection errors, serialization conflicts, insufficient resources, operator intervention, system errors.
            code if ["08", "40", "53", "57", "58"].contains(&&code[..2]) || code == "55P03" => {
                stopped(error)
            }
            _ => Error::Internal(Arc::new(error)),
        }
    }
}
