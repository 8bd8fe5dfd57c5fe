//! Enable Banking: European banks by the person's own application, which is free for one's own accounts. The person
//! consents on the bank's page, for at most 180 days, and then again.

mod access;
mod banks;
mod client;
mod drafts;
mod error;
mod keys;
mod link;
mod provide;
mod rows;
mod state;
mod sync;
mod transactions;

pub use keys::Keys;
pub use provide::EnableBanking;
