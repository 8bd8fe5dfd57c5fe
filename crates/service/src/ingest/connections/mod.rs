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
mod dispatch;
mod drafts;
mod fetch;
mod figures;
mod keys;
mod lease;
mod links;
mod list;
mod notices;
mod offers;
mod provider_webhooks;
mod rekey;
mod revocation;
mod same_account;
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
pub use dispatch::{SYNC_LOOP, run_syncs, sync_once};
pub(crate) use figures::figures;
pub use keys::{KeysStatus, delete_keys, keys_status, list_banks, save_keys};
pub use links::{
    LinkAddresses, LinkState, LinkTarget, StartedLink, check_link, discard_duplicate, find_link,
    keep_duplicate, poll_once, start_link,
};
pub use list::{ConnectedAccount, Connection, History, State, get, list};
pub use offers::{OfferStatus, OfferedAccount, list_offers};
pub use provider_webhooks::receive_webhook;
pub(crate) use rekey::{VaultChange, reencrypt};
pub use revocation::{revocation_queued, revoke_once};
pub use same_account::find_same_account;
pub use sources::provider::{ConnectMethod, Institution, OwedSign, Remedy, Secret};
pub use sources::{enable_banking, plaid};
pub use sync::{SyncResult, sync, sync_history};

pub(crate) fn statements() -> Vec<&'static str> {
    let parts = [
        attention::STATEMENTS,
        authorization::STATEMENTS,
        choices::STATEMENTS,
        connection::STATEMENTS,
        disconnect::STATEMENTS,
        dispatch::STATEMENTS,
        drafts::STATEMENTS,
        fetch::STATEMENTS,
        figures::STATEMENTS,
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
