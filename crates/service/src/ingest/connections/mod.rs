//! Bank connections through SimpleFIN: created from a setup token, synced on a schedule, and disconnected on request.
//!
//! A setup token is exchanged for an access URL, which is stored encrypted. The person selects which of the offered
//! accounts to sync. Selected accounts are synced several times a day, and their history one period at a time.

mod authorization;
mod bank_client;
mod choices;
mod connection;
mod disconnect;
mod drafts;
mod fetch;
mod lease;
mod list;
mod notices;
mod offers;
mod schedule;
mod store;
mod sync;
mod vault;

pub use authorization::{create, reauthorize};
pub(crate) use bank_client::BankClient;
pub use choices::{AddAccount, Choice, Selection, choose};
pub use connection::REQUESTS_A_DAY;
pub use disconnect::disconnect;
pub use list::{ConnectedAccount, Connection, History, State, get, list};
pub use offers::{OfferStatus, OfferedAccount, list_offers};
pub use sources::simplefin::OwedSign;
pub use sync::{SyncResult, sync, sync_history, sync_once};

pub(crate) fn statements() -> Vec<&'static str> {
    let parts = [
        authorization::STATEMENTS,
        choices::STATEMENTS,
        connection::STATEMENTS,
        disconnect::STATEMENTS,
        drafts::STATEMENTS,
        fetch::STATEMENTS,
        lease::STATEMENTS,
        list::STATEMENTS,
        offers::STATEMENTS,
        store::STATEMENTS,
        sync::STATEMENTS,
    ];
    parts.concat()
}
