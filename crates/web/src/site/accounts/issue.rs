//! Why the figures of an account cannot be relied on, in words, and what to do about it.

use base::{Date, Timestamp, date_from_days};
use service::ledger::accounts::Account;

/// Figures older than this may no longer be true.
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

    pub(crate) fn said(self) -> &'static str {
        match self {
            AccountIssue::SignIn => "Your bank asks you to sign in again.",
            AccountIssue::Disconnected => "The connection has ended.",
            AccountIssue::Stale => "Nothing new came for more than three days.",
        }
    }

    pub(crate) fn advice(self, account: &Account) -> &'static str {
        match (self, account.source.as_str()) {
            (AccountIssue::Stale, "file") => "Bring in a newer statement.",
            (AccountIssue::Stale, "manual") => "Set its balance below.",
            (AccountIssue::Stale, _) => "It may catch up by itself; look again tomorrow.",
            (AccountIssue::SignIn | AccountIssue::Disconnected, _) => "Connect it again to go on.",
        }
    }
}

pub(crate) fn day_of(at: Timestamp) -> Date {
    date_from_days(at.as_second().div_euclid(86_400))
}
