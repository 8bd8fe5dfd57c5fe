//! Round trips through the person's browser: the person signs in at a bank on the provider's page, and what came of it is
//! read from the provider. A link belongs to the person who started it, and to nobody else.

mod finish;
mod start;

use base::ConnectionId;
use base::draft::Source;

pub use finish::{check_link, discard_duplicate, find_link, keep_duplicate, poll_once};
pub use start::start_link;

/// What a round trip is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LinkTarget {
    /// Connect a bank, which the person chooses on the provider's page.
    New(Source),
    /// Connect this bank of `list_banks`, by its id.
    NewAt(Source, String),
    /// Sign in again.
    Repair(ConnectionId),
    /// Choose further accounts of the same bank.
    AddAccounts(ConnectionId),
    /// Replace access that has ended. Accounts and history stay.
    Reconnect(ConnectionId),
}

/// Addresses of this installation that the provider is told.
#[derive(Debug, Clone, Default)]
pub struct LinkAddresses {
    /// Where the browser comes back to; none at the command line.
    pub return_url: Option<String>,
    /// Where webhooks arrive; none if the provider cannot reach this installation.
    pub webhook_url: Option<String>,
}

/// A started round trip.
#[derive(Debug, Clone)]
pub struct StartedLink {
    pub id: String,
    /// The provider's page.
    pub url: String,
}

/// How a round trip stands.
#[derive(Debug, Clone)]
pub enum LinkState {
    /// The person has not finished on the provider's page.
    Waiting { url: String },
    /// The bank is connected already; the person decides whether to keep the second connection.
    Duplicate { message: String },
    /// Connected or repaired.
    Done { connection: ConnectionId },
    /// Nothing came of it, and why.
    Ended { message: String },
}

base::words!(
    /// The stored state of a link.
    StoredState {
        Waiting => "waiting",
        Duplicate => "duplicate",
        Done => "done",
        Ended => "ended",
    }
);
db::word_columns!(StoredState);

pub(super) fn statements() -> Vec<&'static str> {
    [start::STATEMENTS, finish::STATEMENTS].concat()
}
