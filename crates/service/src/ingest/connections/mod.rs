//! Bank connections: created from a token or a link, synced on a schedule, and disconnected on request.
//!
//! The access that a provider hands out is stored encrypted. The person selects which of the offered accounts to sync.
//! Selected accounts are synced several times a day. What differs between providers is in `sources`.

mod attention;
mod authorization;
mod bank_client;
mod choices;
mod connection;
mod disconnect;
mod drafts;
mod fetch;
mod keys;
mod lease;
mod links;
mod list;
mod notices;
mod offers;
mod provider_webhooks;
mod rekey;
mod revocation;
mod schedule;
mod store;
mod sync;
mod vault;
mod webhook_keys;

pub use authorization::{create, reauthorize};
pub(crate) use bank_client::BankClient;
pub use bank_client::ProviderSettings;
pub use choices::{AddAccount, Choice, Selection, choose};
pub use disconnect::disconnect;
pub use keys::{KeysStatus, delete_keys, keys_status, list_banks, save_keys};
pub use links::{
    LinkAddresses, LinkState, LinkTarget, StartedLink, check_link, discard_duplicate, find_link,
    keep_duplicate, poll_once, start_link,
};
pub use list::{ConnectedAccount, Connection, History, State, get, list};
pub use offers::{OfferStatus, OfferedAccount, list_offers};
pub use provider_webhooks::receive_webhook;
pub(crate) use rekey::{VaultChange, reencrypt};
pub use revocation::revoke_once;
pub use sources::provider::{ConnectMethod, Institution, OwedSign, Remedy, Secret};
pub use sources::{enable_banking, plaid};
pub use sync::{SyncResult, sync, sync_history, sync_once};

pub(crate) fn statements() -> Vec<&'static str> {
    let parts = [
        attention::STATEMENTS,
        authorization::STATEMENTS,
        choices::STATEMENTS,
        connection::STATEMENTS,
        disconnect::STATEMENTS,
        drafts::STATEMENTS,
        fetch::STATEMENTS,
        keys::STATEMENTS,
        lease::STATEMENTS,
        list::STATEMENTS,
        offers::STATEMENTS,
        provider_webhooks::STATEMENTS,
        rekey::STATEMENTS,
        revocation::STATEMENTS,
        store::STATEMENTS,
        sync::STATEMENTS,
    ];
    let mut all = parts.concat();
    all.extend(links::statements());
    all
}
