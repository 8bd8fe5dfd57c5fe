//! Version 1. It only grows: members are added, never renamed or taken away.

mod account;
mod balance;
mod benefit;
mod code;
mod event;
mod goal;
mod income;
mod investment;
mod page;
mod profile;
mod recurring;
mod scope;
mod scores;
mod summary;
mod transaction;

pub use account::{Account, Accounts};
pub use balance::{Balances, DailyBalance};
pub use benefit::{Benefit, BenefitSummary, BenefitTotals, BenefitWindow};
pub use benefit::{CardBenefits, ExpiringBenefits};
pub use code::Code;
pub use event::{Event, EventType};
pub use goal::{Goal, Goals};
pub use income::{Income, IncomeBlock, IncomePart, IncomeWindow, Variability};
pub use investment::{AccountTotal, Holding, HoldingGroup, Investments};
pub use page::{ErrorBody, ErrorDetail, Meta, Pagination};
pub use profile::Profile;
pub use recurring::{PriceChange, Recurring, Stream, StreamTotals};
pub use scope::Scope;
pub use scores::Scores;
pub use summary::{AccountCounts, BreakdownPart, CashFlow, NetWorthChange, NextOutflow};
pub use summary::{Summary, SummaryGoals, SummaryInvestments, SummaryRecurring, Window};
pub use transaction::{AccountPart, Transaction, TransactionRow};

/// The version that events carry.
pub const API_VERSION: &str = "2026-04-10";
