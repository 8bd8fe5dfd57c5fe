//! Deciding: by the signed-in person alone, on exactly what they saw, while there is time.

use base::{ActionId, Fixed9, SessionId, UserId};
use db::params;
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use webhooks::outbox;
use wire::v1::{Code, Event};

use super::{Action, Kind, Status, execute, fixes, read};
use crate::access::passkeys::{self, ChallengeRequest, Purpose, RelyingParty};
use crate::platform::audit::{self, Actor, Note};
use crate::trading::quotes;
use crate::{App, Caller, Credential, Error, Result, Tx};

/// How long a correction can be taken back.
pub(super) const UNDO_DAYS: i64 = 30;
const REASON_LENGTH_MAX: usize = 500;
const NOT_AS_SHOWN: &str =
    "this proposal is not what you were shown; nothing was done. Look at it again";

/// What was on the page: the proposal's digest, and the price beside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Seen {
    pub digest: [u8; 32],
    pub price: Option<Fixed9>,
}

base::words!(
    /// How the person showed that it is them.
    Method {
        Click => "click",
        Passkey => "passkey",
    }
);

impl Seen {
    /// What somebody who looks at this moment sees.
    pub async fn now(app: &App, action: &Action) -> Result<Seen> {
        let price = match action.what().and_then(|it| it.order()) {
            Some(order) => quotes::find(app, &order.symbol).await?.map(|it| it.quote.price),
            None => None,
        };
        Ok(Seen { digest: action.digest(), price })
    }

    /// What a passkey signs: nothing else that it could be asked to sign looks like this.
    fn challenge(&self, session: SessionId) -> [u8; 32] {
        let mut hash = Sha256::new();
        hash.update(b"evenkeel approval");
        hash.update(session.as_bytes());
        hash.update(self.digest);
        hash.update(self.price.map_or(0, Fixed9::billionths).to_be_bytes());
        hash.finalize().into()
    }
}

/// Keys, apps and the command line have no say here, whatever else they may do.
fn person(caller: &Caller) -> Result<SessionId> {
    match caller.credential {
        Credential::Session { id, .. } => Ok(id),
        _ => Err(Error::Unauthenticated("only a signed-in person decides, in the web app")),
    }
}

/// What the browser is to be asked, where the decision takes a passkey.
pub async fn ask_passkey(
    app: &App,
    caller: &Caller,
    party: &RelyingParty,
    id: ActionId,
    seen: Seen,
) -> Result<Value> {
    let session = person(caller)?;
    let action = read::get(app, caller, id).await?;
    still_open(&action, seen)?;
    let question = question(caller.user, seen, session);
    passkeys::start(app, party, question).await
}

fn question(user: UserId, seen: Seen, session: SessionId) -> ChallengeRequest {
    let challenge = Some(seen.challenge(session));
    ChallengeRequest { purpose: Purpose::Approve, user: Some(user), challenge }
}

/// The person says yes. Whatever follows is done at once if it can be, and by the background step if not.
pub async fn approve(
    app: &App,
    caller: &Caller,
    id: ActionId,
    seen: Seen,
    passkey: Option<(&RelyingParty, &str)>,
) -> Result<Action> {
    let session = person(caller)?;
    let method = match passkey {
        Some((party, answer)) => {
            let question = question(caller.user, seen, session);
            passkeys::finish(app, party, question, answer).await?;
            Method::Passkey
        }
        None => Method::Click,
    };
    let (mine, by) = (app.clone(), caller.clone());
    app.db.write(move |tx| approve_in(&mine, tx, &by, id, seen, method)).await?;
    app.bell.ring();
    execute::attempt(app, caller.user, id).await?;
    read::get(app, caller, id).await
}

fn approve_in(
    app: &App,
    tx: &mut Tx<'_>,
    caller: &Caller,
    id: ActionId,
    seen: Seen,
    method: Method,
) -> Result<()> {
    let action = read::get_in(app, tx, caller.user, id)?;
    still_open(&action, seen)?;
    if action.needs_passkey && method != Method::Passkey {
        return Err(Error::Unauthenticated("this decision takes your passkey"));
    }
    // Without a price on the page there is nothing that the fill could be held against.
    if action.kind() == Kind::Trade && seen.price.is_none() {
        return Err(conflict("there is no price to decide by right now; look again in a moment"));
    }
    let now = app.clock.now();
    let price = seen.price.map(|it| it.to_string());
    let due_at = (!action.kind().is_for_the_person()).then_some(now);
    let changed = tx.execute(
        APPROVE,
        params![caller.user, id, now, method.as_str(), price.as_deref(), due_at, &seen.digest[..]],
    )?;
    if changed == 0 {
        return Err(too_late(&read::get_in(app, tx, caller.user, id)?));
    }
    let note =
        Note::new(caller, "action.approve", format!("Approved: {}", action.details().title()));
    decided(app, tx, Status::Approved, &action, note.by(method.as_str()))
}

pub async fn reject(
    app: &App,
    caller: &Caller,
    id: ActionId,
    seen: Seen,
    reason: Option<String>,
) -> Result<Action> {
    person(caller)?;
    let reason = reason.map(|it| it.trim().to_owned()).filter(|it| !it.is_empty());
    if reason.as_ref().is_some_and(|it| it.chars().count() > REASON_LENGTH_MAX) {
        let message = format!("the reason must have at most {REASON_LENGTH_MAX} characters");
        return Err(Error::invalid("reason", message));
    }
    let (mine, by) = (app.clone(), caller.clone());
    let work = move |tx: &mut Tx<'_>| {
        let action = read::get_in(&mine, tx, by.user, id)?;
        still_open(&action, seen)?;
        let now = mine.clock.now();
        let values = params![by.user, id, now, "rejected", "click", reason.as_deref()];
        if tx.execute(CLOSE, values)? == 0 {
            return Err(too_late(&read::get_in(&mine, tx, by.user, id)?));
        }
        let because = reason.as_ref().map(|it| format!(", because: {it}")).unwrap_or_default();
        let details = format!("Rejected: {}{because}", action.details().title());
        let note = Note::new(&by, "action.reject", details).by("click");
        decided(&mine, tx, Status::Rejected, &action, note)
    };
    app.db.write(work).await?;
    app.bell.ring();
    read::get(app, caller, id).await
}

/// Withdraws a proposal, by whoever made it, in a transaction of the caller's.
pub fn cancel(app: &App, tx: &mut Tx<'_>, caller: &Caller, id: ActionId) -> Result<Action> {
    let action = read::get_in(app, tx, caller.user, id)?;
    if action.proposer_id != caller.credential_id() {
        // Whether it may be seen is asked first: what is not there cannot be withdrawn either.
        read::may_read(caller, &action)?;
        return Err(conflict("only the key or app that proposed this can withdraw it"));
    }
    let now = app.clock.now();
    let values = params![caller.user, id, now, "cancelled", None::<&str>, None::<&str>];
    if tx.execute(CLOSE, values)? == 0 {
        return Err(too_late(&action));
    }
    let mut actor = Actor::from(caller);
    actor.label = Some(action.proposer_label.clone());
    let details = format!("Withdrew: {}", action.details().title());
    decided(app, tx, Status::Cancelled, &action, Note::new(actor, "action.cancel", details))?;
    read::get_in(app, tx, caller.user, id)
}

/// The person carried out elsewhere what they approved, or did not.
pub async fn confirm(app: &App, caller: &Caller, id: ActionId, is_done: bool) -> Result<Action> {
    person(caller)?;
    let (mine, by) = (app.clone(), caller.clone());
    let work = move |tx: &mut Tx<'_>| {
        let action = read::get_in(&mine, tx, by.user, id)?;
        if !action.kind().is_for_the_person() || action.status != Status::Approved {
            return Err(conflict("there is nothing to confirm here"));
        }
        if is_done && !action.is_as_shown() {
            return Err(conflict(NOT_AS_SHOWN));
        }
        execute::finish_by_hand(&mine, tx, &by, &action, is_done)
    };
    app.db.write(work).await?;
    app.bell.ring();
    read::get(app, caller, id).await
}

/// Takes an executed correction back.
pub async fn undo(app: &App, caller: &Caller, id: ActionId) -> Result<Action> {
    person(caller)?;
    let (mine, by) = (app.clone(), caller.clone());
    let work = move |tx: &mut Tx<'_>| {
        let action = read::get_in(&mine, tx, by.user, id)?;
        let now = mine.clock.now();
        let inverse = action.inverse.as_deref().filter(|_| action.can_be_undone(now));
        let inverse = inverse.ok_or_else(|| conflict("this can no longer be taken back"))?;
        if tx.execute(UNDO, params![by.user, id, now])? == 0 {
            return Err(conflict("this was taken back already"));
        }
        fixes::take_back(&mine, tx, by.user, inverse)?;
        let details = format!("Took back: {}", action.details().title());
        let note = Note::new(&by, "action.undo", details).about(id).digest(action.digest);
        audit::note(tx, by.user, now, note)
    };
    app.db.write(work).await?;
    app.bell.ring();
    read::get(app, caller, id).await
}

/// Whether what the person saw is what stands there, and may still be decided.
fn still_open(action: &Action, seen: Seen) -> Result<()> {
    if action.status != Status::PendingApproval {
        return Err(too_late(action));
    }
    if !action.is_as_shown() || action.digest != seen.digest {
        return Err(conflict(NOT_AS_SHOWN));
    }
    Ok(())
}

fn too_late(action: &Action) -> Error {
    conflict(match action.status {
        Status::Expired => "its time is over; it must be proposed anew",
        Status::Rejected => "it was rejected already",
        Status::Cancelled => "whoever proposed it has withdrawn it",
        Status::PendingApproval => "it is waiting for the person",
        Status::Approved | Status::Executing => "it was approved already",
        Status::Executed => "it was carried out already",
        Status::Failed => "it was approved, and failed",
    })
}

fn conflict(message: &str) -> Error {
    Error::Conflict { code: Code::Conflict, message: message.to_owned() }
}

/// The event and the entry of the trail that go with a change of state.
fn decided(app: &App, tx: &mut Tx<'_>, status: Status, action: &Action, note: Note) -> Result<()> {
    let mut facts = action.facts();
    facts.status = status.as_str();
    outbox::append(&app.webhooks, tx, action.user, &[Event::ActionDecided(facts)])?;
    let note = note.about(action.id).digest(action.digest);
    audit::note(tx, action.user, app.clock.now(), note)
}

/// One whose time is over is written down as that.
pub(super) fn expire(app: &App, tx: &mut Tx<'_>, user: UserId, id: ActionId) -> Result<bool> {
    let action = read::get_in(app, tx, user, id)?;
    if tx.execute(EXPIRE, params![user, id, app.clock.now()])? == 0 {
        return Ok(false);
    }
    let details = format!("Nobody decided in time: {}", action.details().title());
    let note = Note::new(Actor::system(), "action.expire", details);
    decided(app, tx, Status::Expired, &action, note)?;
    Ok(true)
}

/// Time and digest are asked for in the very update that decides: a millisecond late is late.
const APPROVE: &str = "update actions set status = 'approved', decided_at = $3, updated_at = $3,
    decision_method = $4, seen_price = $5, due_at = $6
    where user_id = $1 and id = $2 and status = 'pending_approval' and expires_at > $3
    and digest = $7";
const CLOSE: &str = "update actions set status = $4, decided_at = $3, updated_at = $3,
    decision_method = $5, rejection_reason = $6, due_at = null
    where user_id = $1 and id = $2 and status = 'pending_approval' and expires_at > $3";
const EXPIRE: &str = "update actions set status = 'expired', updated_at = $3, due_at = null
    where user_id = $1 and id = $2 and status = 'pending_approval' and expires_at <= $3";
const UNDO: &str = "update actions set undone_at = $3, updated_at = $3
    where user_id = $1 and id = $2 and status = 'executed' and undone_at is null";

pub(super) const STATEMENTS: &[&str] = &[APPROVE, CLOSE, EXPIRE, UNDO];
