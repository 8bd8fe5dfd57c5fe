//! What the person decided about a stream: another name, type or amount, the stream it belongs to, or that it is no
//! recurring payment.
//!
//! Streams are recomputed from transactions and keep their id while they have transactions in common. A decision follows
//! that id. If the stream was gone for a while or its transactions were imported anew, the decision moves to a new
//! stream of the same merchant, direction and frequency.

use std::collections::{BTreeMap, BTreeSet};

use base::{AccountId, StreamId, Timestamp, UserId};
use calc::recurring::Frequency;
use db::{Tx, params};
use webhooks::outbox;
use wire::v1::{Event, Scope};

use super::automatic::{automatic_kind, automatic_name};
use super::{GET, Kind, Stream, read};
use crate::ledger::Direction;
use crate::platform::audit::{self, Note};
use crate::platform::person_lock;
use crate::{App, Caller, Error, Result};

const NAME_LENGTH_MAX: usize = 80;

/// The name, type and amount that the person gives a stream. None for the automatic one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StreamLabels {
    pub name: Option<String>,
    pub kind: Option<Kind>,
    /// What the next payments are expected to be, without a sign.
    pub amount_minor: Option<i64>,
}

impl StreamLabels {
    fn check(&self, direction: Direction) -> Result<()> {
        let is_bad = |name: &String| {
            let length = name.trim().chars().count();
            length == 0 || length > NAME_LENGTH_MAX || name.contains(char::is_control)
        };
        if self.name.as_ref().is_some_and(is_bad) {
            let message = format!("name must have 1 to {NAME_LENGTH_MAX} characters on one line");
            return Err(Error::invalid("name", message));
        }
        if self.amount_minor.is_some_and(|it| it <= 0) {
            return Err(Error::invalid("amount", "amount must be more than zero"));
        }
        match (self.kind, direction) {
            (None, _)
            | (Some(Kind::Bill | Kind::Subscription | Kind::Other), Direction::Outflow) => Ok(()),
            _ => {
                let message = "only a payment can be marked as a bill, a subscription or other";
                Err(Error::invalid("stream_type", message))
            }
        }
    }
}

/// The name, type and amount that the person gave a stream.
pub async fn get_labels(app: &App, caller: &Caller, id: StreamId) -> Result<StreamLabels> {
    caller.require_owner("stream")?;
    let found = app.db.first(FIND, params![caller.user, id], read_choice).await?;
    let labels =
        |it: Choice| StreamLabels { name: it.name, kind: it.kind, amount_minor: it.amount_minor };
    Ok(found.map(|(_, it)| labels(it)).unwrap_or_default())
}

/// Renames a stream, marks its type and sets its amount.
pub async fn set_labels(
    app: &App,
    caller: &Caller,
    id: StreamId,
    labels: StreamLabels,
) -> Result<()> {
    change(app, caller, id, "stream.update", move |stream, choice| {
        labels.check(stream.direction)?;
        choice.name = labels.name.map(|it| it.trim().to_owned());
        choice.kind = labels.kind;
        choice.amount_minor = labels.amount_minor;
        Ok(format!(
            "Labeled the recurring payment {}",
            choice.name.as_deref().unwrap_or(&stream.name)
        ))
    })
    .await
}

/// Marks a stream as no recurring payment. It leaves lists, totals, the calendar and events until it is restored.
pub async fn dismiss(app: &App, caller: &Caller, id: StreamId) -> Result<()> {
    let now = app.clock.now();
    change(app, caller, id, "stream.dismiss", move |stream, choice| {
        choice.dismissed_at = choice.dismissed_at.or(Some(now));
        Ok(format!("Dismissed the recurring payment {}", stream.name))
    })
    .await
}

/// Brings a dismissed stream back.
pub async fn restore(app: &App, caller: &Caller, id: StreamId) -> Result<()> {
    change(app, caller, id, "stream.restore", |stream, choice| {
        choice.dismissed_at = None;
        Ok(format!("Restored the recurring payment {}", stream.name))
    })
    .await
}

/// Changes the decision about a stream, and the stream with it. `edit` returns the sentence for the audit trail.
async fn change(
    app: &App,
    caller: &Caller,
    id: StreamId,
    action: &'static str,
    edit: impl FnOnce(&Stream, &mut Choice) -> Result<String> + Send + 'static,
) -> Result<()> {
    change_in(app, caller, id, action, |_, stream, choice| edit(stream, choice)).await
}

/// As `change`, for an edit that also reads or writes other rows.
pub(super) async fn change_in(
    app: &App,
    caller: &Caller,
    id: StreamId,
    action: &'static str,
    edit: impl FnOnce(&mut Tx<'_>, &Stream, &mut Choice) -> Result<String> + Send + 'static,
) -> Result<()> {
    caller.require(Scope::RecurringRead)?;
    caller.require_owner("stream")?;
    let (mine, caller) = (app.clone(), caller.clone());
    let save = move |tx: &mut Tx<'_>| {
        // The recompute locks the person too, so that it sees the decision from before or after, and never undoes it.
        person_lock::lock(tx, caller.user)?;
        let now = mine.clock.now();
        let found = tx.first(GET, params![caller.user, id], read)?;
        let stream = found.ok_or(Error::NotFound("stream"))?;
        let mut choice = find(tx, caller.user, &stream)?;
        let details = edit(tx, &stream, &mut choice)?;
        save(tx, caller.user, stream, &choice, now)?;
        let event = Event::RecurringUpdated { stream_ids: vec![id.to_string()], count: 1 };
        outbox::append(&mine.webhooks, tx, caller.user, &[event])?;
        audit::note(tx, caller.user, now, Note::new(&caller, action, details).about(id))
    };
    app.db.write(save).await
}

/// The decision about a stream, or one that changes nothing yet.
pub(super) fn find(tx: &mut Tx<'_>, user: UserId, stream: &Stream) -> Result<Choice> {
    let stored = tx.first(FIND, params![user, stream.id], read_choice)?.map(|(_, it)| it);
    Ok(stored.unwrap_or_else(|| Choice::about(stream)))
}

/// Stores a decision, and changes its stream by it.
pub(super) fn save(
    tx: &mut Tx<'_>,
    user: UserId,
    mut stream: Stream,
    choice: &Choice,
    now: Timestamp,
) -> Result<()> {
    save_choice(tx, user, &stream, choice)?;
    choice.apply(&mut stream);
    let values = params![
        user,
        stream.id,
        &stream.name,
        stream.kind.as_str(),
        stream.dismissed_at,
        stream.own_amount_minor,
        stream.monthly_minor,
        stream.merged_into,
        now
    ];
    tx.execute(RELABEL, values)?;
    Ok(())
}

/// The stored decision about one stream.
#[derive(Debug, Clone)]
pub(super) struct Choice {
    stream: StreamId,
    direction: Direction,
    frequency: Frequency,
    pub(super) name: Option<String>,
    kind: Option<Kind>,
    dismissed_at: Option<Timestamp>,
    amount_minor: Option<i64>,
    pub(super) merged_into: Option<StreamId>,
}

impl Choice {
    /// A decision that changes nothing yet.
    fn about(stream: &Stream) -> Choice {
        Choice {
            stream: stream.id,
            direction: stream.direction,
            frequency: stream.frequency,
            name: None,
            kind: None,
            dismissed_at: None,
            amount_minor: None,
            merged_into: None,
        }
    }

    fn is_empty(&self) -> bool {
        self.name.is_none()
            && self.kind.is_none()
            && self.dismissed_at.is_none()
            && self.amount_minor.is_none()
            && self.merged_into.is_none()
    }

    fn apply(&self, stream: &mut Stream) {
        stream.name = self.name.clone().unwrap_or_else(|| automatic_name(stream));
        stream.kind = self.kind.unwrap_or_else(|| automatic_kind(stream));
        stream.dismissed_at = self.dismissed_at;
        stream.own_amount_minor = self.amount_minor;
        let amount = self.amount_minor.unwrap_or(stream.average_minor);
        stream.monthly_minor = stream.frequency.monthly(amount);
        stream.merged_into = self.merged_into;
    }
}

/// All decisions of a person, by account and merchant.
pub(super) struct Choices(BTreeMap<(AccountId, String), Vec<Choice>>);

impl Choices {
    pub(super) fn read(tx: &mut Tx<'_>, user: UserId) -> Result<Choices> {
        let mut by_merchant: BTreeMap<_, Vec<Choice>> = BTreeMap::new();
        for (merchant, choice) in tx.all(ALL, params![user], read_choice)? {
            by_merchant.entry(merchant).or_default().push(choice);
        }
        Ok(Choices(by_merchant))
    }

    /// Applies the decisions about one merchant to its streams, which have their ids. A decision whose stream is gone
    /// moves to a stream without a decision of the same direction and frequency.
    pub(super) fn apply(
        &mut self,
        tx: &mut Tx<'_>,
        user: UserId,
        streams: &mut [Stream],
    ) -> Result<()> {
        let Some(first) = streams.first() else { return Ok(()) };
        let merchant = (first.account_id, first.merchant_key.clone());
        let mut moves: Vec<(StreamId, StreamId)> = Vec::new();
        let Some(choices) = self.0.get_mut(&merchant) else { return Ok(()) };
        let ids: BTreeSet<StreamId> = streams.iter().map(|it| it.id).collect();
        for stream in streams {
            if !choices.iter().any(|it| it.stream == stream.id) {
                let moved = choices.iter_mut().find(|it| {
                    !ids.contains(&it.stream)
                        && (it.direction, it.frequency) == (stream.direction, stream.frequency)
                });
                if let Some(choice) = moved {
                    tx.execute(DELETE, params![user, choice.stream])?;
                    moves.push((choice.stream, stream.id));
                    choice.stream = stream.id;
                    save_choice(tx, user, stream, choice)?;
                }
            }
            if let Some(choice) = choices.iter().find(|it| it.stream == stream.id) {
                choice.apply(stream);
            }
        }
        for (from, to) in moves {
            self.move_merges(tx, user, from, to)?;
        }
        Ok(())
    }

    /// Lets the streams that were merged into one follow it to its new id.
    fn move_merges(
        &mut self,
        tx: &mut Tx<'_>,
        user: UserId,
        from: StreamId,
        to: StreamId,
    ) -> Result<()> {
        for choice in self.0.values_mut().flatten() {
            if choice.merged_into == Some(from) {
                choice.merged_into = Some(to);
            }
        }
        tx.execute(MOVE_CHOICES, params![user, from, to])?;
        tx.execute(MOVE_STREAMS, params![user, from, to])?;
        Ok(())
    }
}

/// A decision with the account and merchant of its stream.
fn read_choice(row: &db::Row<'_>) -> db::Result<((AccountId, String), Choice)> {
    let choice = Choice {
        stream: row.get(0)?,
        direction: row.get(3)?,
        frequency: row.word(4, "frequency", Frequency::parse)?,
        name: row.get(5)?,
        kind: row.get(6)?,
        dismissed_at: row.get(7)?,
        amount_minor: row.get(8)?,
        merged_into: row.get(9)?,
    };
    Ok(((row.get(1)?, row.get(2)?), choice))
}

/// Stores a decision, with the frequency that its stream has now.
fn save_choice(tx: &mut Tx<'_>, user: UserId, stream: &Stream, choice: &Choice) -> Result<()> {
    tx.execute(DELETE, params![user, stream.id])?;
    if choice.is_empty() {
        return Ok(());
    }
    let values = params![
        user,
        stream.id,
        stream.account_id,
        &stream.merchant_key,
        stream.direction.as_str(),
        stream.frequency.as_str(),
        &choice.name,
        choice.kind.map(Kind::as_str),
        choice.dismissed_at,
        choice.amount_minor,
        choice.merged_into
    ];
    tx.execute(INSERT, values)?;
    Ok(())
}

const ALL: &str = "select stream_id, account_id, merchant_key, direction, frequency, name, stream_type, dismissed_at,
    amount_minor, merged_into from stream_choices where user_id = $1";
const FIND: &str = "select stream_id, account_id, merchant_key, direction, frequency, name, stream_type, dismissed_at,
    amount_minor, merged_into from stream_choices where user_id = $1 and stream_id = $2";
const DELETE: &str = "delete from stream_choices where user_id = $1 and stream_id = $2";
const INSERT: &str = "insert into stream_choices (user_id, stream_id, account_id, merchant_key, direction, frequency,
    name, stream_type, dismissed_at, amount_minor, merged_into)
    values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)";
const RELABEL: &str =
    "update streams set name = $3, stream_type = $4, dismissed_at = $5, own_amount_minor = $6,
    monthly_minor = $7, merged_into = $8, updated_at = $9 where user_id = $1 and id = $2";
pub(super) const MOVE_CHOICES: &str =
    "update stream_choices set merged_into = $3 where user_id = $1 and merged_into = $2";
pub(super) const MOVE_STREAMS: &str =
    "update streams set merged_into = $3 where user_id = $1 and merged_into = $2";

pub(super) const STATEMENTS: &[&str] =
    &[ALL, FIND, DELETE, INSERT, RELABEL, MOVE_CHOICES, MOVE_STREAMS];
