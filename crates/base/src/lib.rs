//! Types that every crate shares: money, quantities, ids, time, randomness, drafts, metrics. No I/O, no SQL, no HTTP.

mod address_group;
pub mod category;
pub mod csv;
pub mod draft;
mod entropy;
mod fixed;
mod id;
pub mod metrics;
mod money;
mod nearest;
mod network;
mod percent;
mod pretty;
pub mod split;
mod time;
mod timezone;
mod words;

pub use address_group::AddressGroup;
pub use entropy::Entropy;
pub use fixed::{
    DecimalError, Fixed9, Percent, divide_half_even, parse_json_scaled, parse_scaled, write_scaled,
};
pub use id::{
    AccountId, ActionId, AttachmentId, AttemptId, BenefitId, ClientId, ConnectionId, EditId,
    EndpointId, EventId, FileId, FilterId, GoalId, GrantId, HoldingId, ImportId, InvitationId,
    KeyId, PairId, PaperAccountId, PaperTradeId, PasskeyId, SessionId,
};
pub use id::{Id, IdError, IdMaker, Kind, kinds};
pub use id::{RequestId, RuleId, SecurityId, StreamId, ThreadId, TransactionId, UserId};
pub use money::{Currency, Money, MoneyError};
pub use nearest::nearest;
pub use network::{Network, NetworkError};
pub use percent::{percent_encode, percent_encode_path};
pub use pretty::grouped;
pub use time::{
    CLOCK_SKEW_MICROSECONDS, Clock, Date, Timestamp, date_from_days, days_from_date, write_date,
    write_instant,
};
pub use timezone::{TimeZone, UnknownTimeZone};
