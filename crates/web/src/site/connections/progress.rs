//! The progress of a connection's first syncs, on its page.

use base::Timestamp;
use maud::{Markup, html};
use service::ingest::connections::{Connection, OfferStatus, OfferedAccount, State};
use service::ingest::imports::Import;

use super::source_name;
use crate::site::format::plural;
use crate::site::person::Person;

/// A provider that is still fetching the history is asked again this soon.
const SOON_SECONDS: i64 = 40 * 60;
/// By then every provider has the history; a sync that comes soon has another reason.
const NEW_SECONDS: i64 = 86_400;
/// The page follows a sync that comes within this time.
const FOLLOWED_SECONDS: i64 = 70;

/// What the first syncs of a connection have come to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Progress {
    /// The chosen accounts are being fetched for the first time.
    FirstSync,
    /// The accounts are here, and the provider is still fetching their history from the bank.
    History,
    /// Nothing to wait for.
    Done,
}

impl Progress {
    pub(super) fn of(it: &Connection, offered: &[OfferedAccount]) -> Progress {
        let has_problem = it.state != State::Connected || it.attention.is_some();
        if has_problem || it.next_sync_at.is_none() {
            return Progress::Done;
        }
        let is_new = |it: &OfferedAccount| it.status == OfferStatus::Added && it.account.is_none();
        if offered.iter().any(is_new) {
            return Progress::FirstSync;
        }
        let by_state = it.provider().is_some_and(|it| it.schedule().window_days.is_none());
        let is_soon = |last, next| {
            seconds(last, next) <= SOON_SECONDS && seconds(it.created_at, last) <= NEW_SECONDS
        };
        match (it.synced_at, it.next_sync_at) {
            (Some(last), Some(next)) if by_state && is_soon(last, next) => Progress::History,
            _ => Progress::Done,
        }
    }

    /// Whether the page should update by itself.
    pub(super) fn is_followed(self, it: &Connection, now: Timestamp) -> bool {
        let is_soon = it.next_sync_at.is_some_and(|at| seconds(now, at) <= FOLLOWED_SECONDS);
        self != Progress::Done && is_soon
    }

    pub(super) fn show(
        self,
        person: &Person,
        it: &Connection,
        batches: &[Import],
        is_followed: bool,
    ) -> Markup {
        if self == Progress::Done {
            return html! {};
        }
        let found: i64 = batches.iter().map(|it| it.summary.new as i64).sum();
        let now = person.app().clock.now();
        let provider = source_name(it.source);
        html! {
            section.card aria-labelledby="progress" data-commit=[is_followed.then_some("2000")] {
                h2 id="progress" { "First update" }
                @if is_followed { progress aria-label="First update" {} }
                @if self == Progress::FirstSync {
                    p { "Your accounts are being added." }
                } @else {
                    p {
                        (plural(it.accounts.len() as i64, "account", "accounts")) " and "
                        (plural(found, "transaction", "transactions")) " so far. "
                        (provider) " is still fetching the history from your bank."
                        @if let Some(at) = it.next_sync_at { " Next update " (person.view.time_until(at, now)) "." }
                    }
                }
                p.soft { "You can leave this page. The update continues." }
            }
        }
    }
}

fn seconds(from: Timestamp, to: Timestamp) -> i64 {
    to.as_second().saturating_sub(from.as_second())
}
