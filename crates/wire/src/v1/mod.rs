//! Version 1. It only grows: members are added, never renamed or taken away.

mod account;
mod balance;
mod code;
mod event;
mod goal;
mod investment;
mod page;
mod profile;
mod scope;
mod transaction;

pub use account::{Account, Accounts};
pub use balance::{Balances, DailyBalance};
pub use code::Code;
pub use event::{Event, EventType};
pub use goal::{Goal, Goals};
pub use investment::{AccountTotal, Holding, HoldingGroup, Investments};
pub use page::{ErrorBody, ErrorDetail, Meta, Pagination};
pub use profile::Profile;
pub use scope::Scope;
pub use transaction::{AccountPart, Transaction, TransactionRow};

/// The version that events carry.
pub const API_VERSION: &str = "2026-04-10";
