//! Splits, notes and tags that a program proposes: how the person sees them, and how they are applied.

use base::{TransactionId, UserId};
use db::params;
use serde_json::json;
use wire::v1::Change;

use super::corrections::{Applied, Inverse, to_json};
use super::named_transaction::{change, find_transaction};
use super::payload::ProposedPart;
use crate::ledger::annotations::{self, Tags};
use crate::ledger::splits::{self, Part, Split};
use crate::platform::audit::Actor;
use crate::{App, Caller, Error, Result, Tx};

/// Shows a split: the transaction with its category from before, then each part.
pub(super) fn describe_split(
    tx: &mut Tx<'_>,
    caller: &Caller,
    id: TransactionId,
    parts: &[ProposedPart],
) -> Result<(String, Vec<Change>)> {
    let found = find_transaction(tx, caller, "transaction_id", id)?;
    let currency = found.amount.currency();
    let stored = tx.first(SPLIT, params![caller.user, id], |row| {
        Ok((row.get::<Option<&str>>(0)?.is_some(), Split::read(row, 1)?))
    })?;
    let (is_transfer, split) = stored.unwrap_or_default();
    let wanted = ProposedPart::in_currency(parts, currency).ok_or_else(|| {
        let decimals = currency.decimals();
        wrong("payload.splits", format!("must have amounts with at most {decimals} decimals"))
    })?;
    splits::check(found.amount, is_transfer, &wanted).map_err(below_payload)?;
    let text = |it: &Part| {
        let amount = base::Money::new(it.amount_minor, currency).pretty();
        let note = if it.note.is_empty() { String::new() } else { format!(" ({})", it.note) };
        format!("{} {amount}{note}", it.category.label())
    };
    let before = match split.filter(|it| it.counts(found.amount.minor())) {
        Some(split) => Some(split.parts.iter().map(text).collect::<Vec<_>>().join(", ")),
        None => found.category.map(|it| it.label().to_owned()),
    };
    let mut changes = vec![change(&found.label(), before, &format!("{} parts", wanted.len()))];
    for (index, part) in wanted.iter().enumerate() {
        changes.push(change(&format!("Part {}", index + 1), None, &text(part)));
    }
    let title = format!("Split {} into {} parts", found.name(), wanted.len());
    Ok((title, changes))
}

pub(super) fn split(
    app: &App,
    tx: &mut Tx<'_>,
    user: UserId,
    id: TransactionId,
    parts: &[ProposedPart],
) -> Result<Applied> {
    let currency = tx.first(CURRENCY, params![user, id], |row| row.get(0))?;
    let currency = currency.ok_or(Error::NotFound("transaction"))?;
    let parts = ProposedPart::in_currency(parts, currency)
        .ok_or_else(|| wrong("payload.splits", "no longer fit the currency".to_owned()))?;
    let before = splits::save_in(app, tx, (user, Actor::system()), id, Some(&parts))?;
    let mut inverse = Inverse::default();
    inverse.splits.push(before);
    Ok(Applied {
        result: json!({ "transaction_count": 1 }),
        details: format!("Split a transaction into {} parts", parts.len()),
        inverse: to_json(&inverse)?,
    })
}

/// Shows the note and the tags of each transaction before and after.
pub(super) fn describe_annotation(
    tx: &mut Tx<'_>,
    caller: &Caller,
    transactions: &[TransactionId],
    (note, tags): (Option<&str>, &Tags),
) -> Result<(String, Vec<Change>)> {
    let note = note.map(annotations::checked_note).transpose().map_err(below_payload)?;
    let text = |note: Option<&str>, tags: &Tags| {
        let tags = tags.iter().map(|it| format!("#{it}"));
        note.map(str::to_owned).into_iter().chain(tags).collect::<Vec<_>>().join(" ")
    };
    let mut changes = Vec::with_capacity(transactions.len());
    for id in transactions {
        let found = find_transaction(tx, caller, "transaction_ids", *id)?;
        let read = |row: &db::Row<'_>| Ok((row.get::<Option<String>>(0)?, Tags::read(row.get(1)?)));
        let stored = tx.first(ANNOTATION, params![caller.user, *id], read)?;
        let (old_note, old_tags) = stored.unwrap_or_default();
        let all = old_tags.clone().with(tags).map_err(below_payload)?;
        let new_note = note.as_ref().unwrap_or(&old_note);
        let before = text(old_note.as_deref(), &old_tags);
        let after = text(new_note.as_deref(), &all);
        let before = (!before.is_empty()).then_some(before);
        changes.push(change(&found.label(), before, &after));
    }
    let what = match (&note, tags.is_empty()) {
        (Some(_), true) => "Set the note of",
        (None, _) => "Tag",
        (Some(_), false) => "Set the note of and tag",
    };
    let many = if transactions.len() == 1 { "transaction" } else { "transactions" };
    Ok((format!("{what} {} {many}", transactions.len()), changes))
}

pub(super) fn annotate(
    app: &App,
    tx: &mut Tx<'_>,
    user: UserId,
    transactions: &[TransactionId],
    (note, tags): (Option<&str>, &Tags),
) -> Result<Applied> {
    let mut inverse = Inverse::default();
    for id in transactions {
        let by = (user, Actor::system());
        inverse.annotations.push(annotations::annotate(app, tx, by, *id, (note, tags))?);
    }
    let count = transactions.len();
    let many = if count == 1 { "transaction" } else { "transactions" };
    Ok(Applied {
        result: json!({ "transaction_count": count }),
        details: format!("Changed the note or the tags of {count} {many}"),
        inverse: to_json(&inverse)?,
    })
}

fn wrong(param: &str, what: String) -> Error {
    Error::invalid(param, format!("{param} {what}"))
}

/// Names a member as the payload has it.
fn below_payload(error: Error) -> Error {
    match error {
        Error::Invalid { param: Some(param), message } => {
            Error::invalid(&format!("payload.{param}"), message)
        }
        other => other,
    }
}

const SPLIT: &str = "select transfer_kind, split_minor, splits from transactions
    where user_id = $1 and id = $2 and state <> 'removed'";
const CURRENCY: &str =
    "select currency from transactions where user_id = $1 and id = $2 and state <> 'removed'";
const ANNOTATION: &str =
    "select note, tags from transactions where user_id = $1 and id = $2 and state <> 'removed'";

pub(super) const STATEMENTS: &[&str] = &[SPLIT, CURRENCY, ANNOTATION];
