//! Why the figures of an account cannot be relied on, in words, and what to do about it.

use base::{Date, Timestamp, date_from_days};
use service::ledger::accounts::Account;

/// Figures older than this may no longer be true.
const STALE_SECONDS: i64 = 3 * 86_400;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Doubt {
    SignIn,
    Disconnected,
    Stale,
}

impl Doubt {
    pub(crate) fn of(account: &Account, now: Timestamp) -> Option<Doubt> {
        let old = |at: Timestamp| now.as_second() - at.as_second() > STALE_SECONDS;
        match account.connection_status.as_str() {
            "needs_attention" => Some(Doubt::SignIn),
            "disconnected" => Some(Doubt::Disconnected),
            _ => account.balance_as_of.is_some_and(old).then_some(Doubt::Stale),
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Doubt::SignIn => "Sign in again",
            Doubt::Disconnected => "Disconnected",
            Doubt::Stale => "Out of date",
        }
    }

    pub(crate) fn said(self) -> &'static str {
        match self {
            Doubt::SignIn => "Your bank asks you to sign in again.",
            Doubt::Disconnected => "The connection has ended.",
            Doubt::Stale => "Nothing new came for more than three days.",
        }
    }

    pub(crate) fn advice(self, account: &Account) -> &'static str {
        match (self, account.source.as_str()) {
            (Doubt::Stale, "file") => "Bring in a newer statement.",
            (Doubt::Stale, "manual") => "Set its balance below.",
            (Doubt::Stale, _) => "It may catch up by itself; look again tomorrow.",
            (Doubt::SignIn | Doubt::Disconnected, _) => "Connect it again to go on.",
        }
    }
}

pub(crate) fn day_of(at: Timestamp) -> Date {
    date_from_days(at.as_second().div_euclid(86_400))
}
