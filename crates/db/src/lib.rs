//! One SQL text over SQLite and PostgreSQL: values, statements, transactions, migrations, backups.
//!
//! Modules import downwards only: `migrate` uses `sharding` and `views`; these and `backup` use `database`, which uses `tx`,
//! which uses the two engines (`sqlite`, `postgres`), which use `read_limits`, `request`, `value`, `dialect`, `outcome`,
//! `meters` and `error`.

mod backup;
mod database;
mod dialect;
mod error;
mod free_space;
mod meters;
mod migrate;
mod outcome;
mod postgres;
mod read_limits;
mod request;
mod sharding;
mod sqlite;
mod target;
mod tx;
mod value;
mod views;
mod words;
mod work;

pub use backup::{Column, ColumnKind, Table};
pub use database::{Db, Progress};
pub use error::{Error, Result};
pub use free_space::free_bytes;
pub use migrate::{LockWait, MigrateError, Migration, PendingStep, SchemaState, schema_version};
pub use postgres::{DEFAULT_CONNECTIONS, SERVER_MIN as SERVER_CONNECTIONS_MIN};
pub use read_limits::ReadLimits;
pub use request::{ReadGroup, extend_deadline, set_read_group, with_deadline};
pub use sharding::{Cluster, Placement, Placements, ShardError, ShardStep};
pub use target::{Engine, Target};
pub use tx::{Signer, Tx};
pub use value::{FromColumn, Param, Row, Value};
pub use words::unknown_word;
