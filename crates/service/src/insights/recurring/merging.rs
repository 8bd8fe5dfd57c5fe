//! Merged streams: one payment that was detected as several, for example after the card or the company's name changed.
//!
//! The streams stay apart in the database, because each is found again from its own transactions. They are put together
//! when they are read.

use std::collections::BTreeSet;

use base::{AccountId, StreamId};
use db::params;

use super::choices::{MOVE_CHOICES, MOVE_STREAMS, change_in, find, save};
use super::{GET, PriceChange, Stream, read};
use crate::{App, Caller, Error, Result};

/// A stream that was merged into another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MergedPart {
    pub id: StreamId,
    pub name: String,
    pub(super) account_id: AccountId,
    pub(super) merchant_key: String,
}

/// Merges a stream into another. Its own merged streams move with it.
pub async fn merge(app: &App, caller: &Caller, id: StreamId, into: StreamId) -> Result<()> {
    if id == into {
        return Err(Error::invalid("into", "choose another payment to merge with"));
    }
    let (user, now) = (caller.user, app.clock.now());
    change_in(app, caller, id, "stream.merge", move |tx, stream, choice| {
        let target = tx.first(GET, params![user, into], read)?;
        let target = target.ok_or_else(|| Error::invalid("into", "this payment does not exist"))?;
        check(stream, &target)?;
        choice.merged_into = Some(into);
        let mut kept = find(tx, user, &target)?;
        let details = format!("Merged the recurring payment {} into {}", stream.name, target.name);
        // The decision about the target keeps its name, so that the merged streams follow it if it is found anew.
        kept.name.get_or_insert_with(|| target.name.clone());
        save(tx, user, target, &kept, now)?;
        tx.execute(MOVE_CHOICES, params![user, stream.id, into])?;
        tx.execute(MOVE_STREAMS, params![user, stream.id, into])?;
        Ok(details)
    })
    .await
}

fn check(stream: &Stream, target: &Stream) -> Result<()> {
    let refuse = |message: &str| Err(Error::invalid("into", message));
    if target.merged_into.is_some() || target.dismissed_at.is_some() {
        return refuse("this payment was merged or dismissed; choose another");
    }
    if stream.dismissed_at.is_some() {
        return refuse("restore the dismissed payment before you merge it");
    }
    if stream.direction != target.direction {
        return refuse("a payment and an income can't be merged");
    }
    if stream.currency != target.currency {
        return refuse("payments in different currencies can't be merged");
    }
    Ok(())
}

/// Takes a stream out of the one that it was merged into.
pub async fn separate(app: &App, caller: &Caller, id: StreamId) -> Result<()> {
    change_in(app, caller, id, "stream.separate", |_, stream, choice| {
        choice.merged_into = None;
        Ok(format!("Separated the recurring payment {}", stream.name))
    })
    .await
}

/// Puts merged streams together. One whose target is not among the streams stands for itself.
pub(super) fn fold(streams: Vec<Stream>) -> Vec<Stream> {
    let standing: BTreeSet<StreamId> =
        streams.iter().filter(|it| it.merged_into.is_none()).map(|it| it.id).collect();
    let is_part = |it: &Stream| it.merged_into.is_some_and(|target| standing.contains(&target));
    let (parts, mut whole): (Vec<Stream>, Vec<Stream>) = streams.into_iter().partition(is_part);
    for part in parts {
        if let Some(target) = whole.iter_mut().find(|it| Some(it.id) == part.merged_into) {
            absorb(target, part);
        }
    }
    whole
}

/// The accounts and merchants whose transactions are in a stream.
pub(super) fn sources(stream: &Stream) -> BTreeSet<(AccountId, &str)> {
    let merged = stream.merged.iter().map(|it| (it.account_id, it.merchant_key.as_str()));
    merged.chain([(stream.account_id, stream.merchant_key.as_str())]).collect()
}

/// Adds a stream to its target. The part that was paid last tells the schedule, the account and the amount.
fn absorb(target: &mut Stream, part: Stream) {
    let (transactions, changes) = (joined(target, &part), price_changes(target, &part));
    target.merged.push(MergedPart {
        id: part.id,
        name: part.name,
        account_id: part.account_id,
        merchant_key: part.merchant_key,
    });
    target.min_minor = target.min_minor.min(part.min_minor);
    target.max_minor = target.max_minor.max(part.max_minor);
    target.first_on = target.first_on.min(part.first_on);
    target.updated_at = target.updated_at.max(part.updated_at);
    target.missed_on.extend(part.missed_on);
    target.missed_on.sort_unstable();
    target.missed_on.dedup();
    if part.last_on > target.last_on {
        let own = (target.account_id, std::mem::take(&mut target.merchant_key));
        if let Some(last) = target.merged.last_mut() {
            // The account and merchant of the stream are those of its newest payments.
            target.account_id = std::mem::replace(&mut last.account_id, own.0);
            target.merchant_key = std::mem::replace(&mut last.merchant_key, own.1);
        }
        target.frequency = part.frequency;
        target.status = part.status;
        target.confidence = part.confidence;
        target.amount_class = part.amount_class;
        target.average_minor = part.average_minor;
        target.last_minor = part.last_minor;
        target.last_on = part.last_on;
        target.next_expected_on = part.next_expected_on;
        let amount = target.own_amount_minor.unwrap_or(part.average_minor);
        target.monthly_minor = part.frequency.monthly(amount);
    }
    target.transactions = transactions;
    target.price_changes = changes;
}

/// The transactions of both, newest first: ids rise with time only within an import, so the later part comes first.
fn joined(target: &Stream, part: &Stream) -> Vec<base::TransactionId> {
    let (newer, older) =
        if part.last_on > target.last_on { (part, target) } else { (target, part) };
    newer.transactions.iter().chain(&older.transactions).copied().collect()
}

/// The price changes of both, and the one between them if the later part began with another price.
fn price_changes(target: &Stream, part: &Stream) -> Vec<PriceChange> {
    let (newer, older) =
        if part.last_on > target.last_on { (part, target) } else { (target, part) };
    let to_minor = newer.price_changes.first().map_or(newer.last_minor, |it| it.from_minor);
    let is_fixed = !newer.amount_class.is_variable() && !older.amount_class.is_variable();
    let follows = is_fixed && newer.first_on > older.last_on && to_minor != older.last_minor;
    let between = follows.then_some(PriceChange {
        on: newer.first_on,
        from_minor: older.last_minor,
        to_minor,
    });
    let all = older.price_changes.iter().copied().chain(between);
    let mut all: Vec<PriceChange> = all.chain(newer.price_changes.iter().copied()).collect();
    all.sort_by_key(|it| it.on);
    all
}
