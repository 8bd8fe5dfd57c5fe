//! What the person decided about a stream: another name, another type, or that it is no recurring payment.
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

/// The name and type that the person gives a stream. None for the automatic one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StreamLabels {
    pub name: Option<String>,
    pub kind: Option<Kind>,
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

/// The name and type that the person gave a stream.
pub async fn get_labels(app: &App, caller: &Caller, id: StreamId) -> Result<StreamLabels> {
    caller.require_owner("stream")?;
    let found = app.db.first(FIND, params![caller.user, id], read_choice).await?;
    Ok(found.map(|(_, it)| StreamLabels { name: it.name, kind: it.kind }).unwrap_or_default())
}

/// Renames a stream and marks its type.
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
    caller.require(Scope::RecurringRead)?;
    caller.require_owner("stream")?;
    let (mine, caller) = (app.clone(), caller.clone());
    let save = move |tx: &mut Tx<'_>| {
        // The recompute locks the person too, so that it sees the decision from before or after, and never undoes it.
        person_lock::lock(tx, caller.user)?;
        let now = mine.clock.now();
        let found = tx.first(GET, params![caller.user, id], read)?;
        let mut stream = found.ok_or(Error::NotFound("stream"))?;
        let stored = tx.first(FIND, params![caller.user, id], read_choice)?.map(|(_, it)| it);
        let mut choice = stored.unwrap_or_else(|| Choice::about(&stream));
        let details = edit(&stream, &mut choice)?;
        save_choice(tx, caller.user, &stream, &choice)?;
        choice.apply(&mut stream);
        tx.execute(
            RELABEL,
            params![caller.user, id, &stream.name, stream.kind.as_str(), stream.dismissed_at, now],
        )?;
        let event = Event::RecurringUpdated { stream_ids: vec![id.to_string()], count: 1 };
        outbox::append(&mine.webhooks, tx, caller.user, &[event])?;
        audit::note(tx, caller.user, now, Note::new(&caller, action, details).about(id))
    };
    app.db.write(save).await
}

/// The stored decision about one stream.
#[derive(Debug, Clone)]
struct Choice {
    stream: StreamId,
    direction: Direction,
    frequency: Frequency,
    name: Option<String>,
    kind: Option<Kind>,
    dismissed_at: Option<Timestamp>,
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
        }
    }

    fn apply(&self, stream: &mut Stream) {
        stream.name = self.name.clone().unwrap_or_else(|| automatic_name(stream));
        stream.kind = self.kind.unwrap_or_else(|| automatic_kind(stream));
        stream.dismissed_at = self.dismissed_at;
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
                    choice.stream = stream.id;
                    save_choice(tx, user, stream, choice)?;
                }
            }
            if let Some(choice) = choices.iter().find(|it| it.stream == stream.id) {
                choice.apply(stream);
            }
        }
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
    };
    Ok(((row.get(1)?, row.get(2)?), choice))
}

/// Stores a decision, with the frequency that its stream has now.
fn save_choice(tx: &mut Tx<'_>, user: UserId, stream: &Stream, choice: &Choice) -> Result<()> {
    tx.execute(DELETE, params![user, stream.id])?;
    if choice.name.is_none() && choice.kind.is_none() && choice.dismissed_at.is_none() {
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
        choice.dismissed_at
    ];
    tx.execute(INSERT, values)?;
    Ok(())
}

const ALL: &str = "select stream_id, account_id, merchant_key, direction, frequency, name, stream_type, dismissed_at
    from stream_choices where user_id = $1";
const FIND: &str = "select stream_id, account_id, merchant_key, direction, frequency, name, stream_type, dismissed_at
    from stream_choices where user_id = $1 and stream_id = $2";
const DELETE: &str = "delete from stream_choices where user_id = $1 and stream_id = $2";
const INSERT: &str = "insert into stream_choices (user_id, stream_id, account_id, merchant_key, direction, frequency,
    name, stream_type, dismissed_at) values ($1, $2, $3, $4, $5, $6, $7, $8, $9)";
const RELABEL: &str =
    "update streams set name = $3, stream_type = $4, dismissed_at = $5, updated_at = $6
    where user_id = $1 and id = $2";

pub(super) const STATEMENTS: &[&str] = &[ALL, FIND, DELETE, INSERT, RELABEL];
