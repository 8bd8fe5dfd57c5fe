//! Problems with an account's data, such as a lost connection, with advice for the person.

use base::Timestamp;
use service::ledger::accounts::Account;

/// A balance older than this is out of date.
const STALE_SECONDS: i64 = 3 * 86_400;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum AccountIssue {
    SignIn,
    Disconnected,
    Stale,
}

impl AccountIssue {
    pub(crate) fn of(account: &Account, now: Timestamp) -> Option<AccountIssue> {
        let old = |at: Timestamp| now.as_second() - at.as_second() > STALE_SECONDS;
        match account.connection_status.as_str() {
            "needs_attention" => Some(AccountIssue::SignIn),
            "disconnected" => Some(AccountIssue::Disconnected),
            _ => account.balance_as_of.is_some_and(old).then_some(AccountIssue::Stale),
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            AccountIssue::SignIn => "Sign in again",
            AccountIssue::Disconnected => "Disconnected",
            AccountIssue::Stale => "Out of date",
        }
    }

    pub(crate) fn description(self) -> &'static str {
        match self {
            AccountIssue::SignIn => "Your bank asks you to sign in again.",
            AccountIssue::Disconnected => "The connection was removed.",
            AccountIssue::Stale => "No new data for more than three days.",
        }
    }

    pub(crate) fn advice(self, account: &Account) -> &'static str {
        match (self, account.source.as_str()) {
            (AccountIssue::Stale, "file") => "Import a newer statement.",
            (AccountIssue::Stale, "manual") => "Update its balance below.",
            (AccountIssue::Stale, _) => "It may update on its own. Check again tomorrow.",
            (AccountIssue::SignIn | AccountIssue::Disconnected, _) => "Reconnect it to continue.",
        }
    }
}
