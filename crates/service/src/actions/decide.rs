//! Decisions: only the signed-in person approves or rejects, exactly what they saw, before the proposal expires.

use base::{ActionId, Fixed9, SessionId, UserId};
use db::params;
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use webhooks::outbox;
use wire::v1::{Code, Event};

use super::action::{Action, DecisionMethod, Status};
use super::payload::Kind;
use super::{corrections, execute, read};
use crate::access::passkeys::{self, ChallengeRequest, Purpose, RelyingParty};
use crate::ledger::quotes;
use crate::platform::audit::{self, Actor, Note};
use crate::{App, Caller, Credential, Error, Result, Tx};

const REASON_LENGTH_MAX: usize = 500;
const CHANGED: &str =
    "this proposal changed after you opened it; nothing was done. Review it again";

/// The proposal as the person saw it: its digest, and the price on the page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SeenProposal {
    pub digest: [u8; 32],
    pub price: Option<Fixed9>,
}

impl SeenProposal {
    /// The proposal as the page shows it at this moment.
    pub async fn now(app: &App, action: &Action) -> Result<SeenProposal> {
        let price = match action.payload().and_then(|it| it.order()) {
            Some(order) => quotes::find(app, &order.symbol).await?.map(|it| it.quote.price),
            None => None,
        };
        Ok(SeenProposal { digest: action.computed_digest(), price })
    }

    /// The challenge that a passkey signs. The prefix keeps it apart from every other challenge.
    fn challenge(&self, session: SessionId) -> [u8; 32] {
        let mut hash = Sha256::new();
        hash.update(b"evenkeel approval");
        hash.update(session.as_bytes());
        hash.update(self.digest);
        hash.update(self.price.map_or(0, Fixed9::billionths).to_be_bytes());
        hash.finalize().into()
    }
}

/// Requires a signed-in person. Keys, apps and the command line cannot decide.
fn require_person(caller: &Caller) -> Result<SessionId> {
    match caller.credential {
        Credential::Session { id, .. } => Ok(id),
        _ => Err(Error::Unauthenticated("only a signed-in person can decide, in the web app")),
    }
}

/// Starts the passkey confirmation of a decision.
pub async fn ask_passkey(
    app: &App,
    caller: &Caller,
    party: &RelyingParty,
    id: ActionId,
    seen: SeenProposal,
) -> Result<Value> {
    let session = require_person(caller)?;
    let action = read::get(app, caller, id).await?;
    require_pending(&action, seen)?;
    passkeys::start(app, party, challenge_request(caller.user, seen, session)).await
}

fn challenge_request(user: UserId, seen: SeenProposal, session: SessionId) -> ChallengeRequest {
    let challenge = Some(seen.challenge(session));
    ChallengeRequest { purpose: Purpose::Approve, user: Some(user), challenge }
}

/// Approves an action, and executes it immediately if possible, otherwise by the background step.
pub async fn approve(
    app: &App,
    caller: &Caller,
    id: ActionId,
    seen: SeenProposal,
    passkey: Option<(&RelyingParty, &str)>,
) -> Result<Action> {
    let session = require_person(caller)?;
    let method = match passkey {
        Some((party, answer)) => {
            let request = challenge_request(caller.user, seen, session);
            passkeys::finish(app, party, request, answer).await?;
            DecisionMethod::Passkey
        }
        None => DecisionMethod::Click,
    };
    let (mine, by) = (app.clone(), caller.clone());
    app.db.write(move |tx| approve_in(&mine, tx, &by, id, seen, method)).await?;
    app.changes.notify();
    execute::attempt(app, caller.user, id).await?;
    read::get(app, caller, id).await
}

fn approve_in(
    app: &App,
    tx: &mut Tx<'_>,
    caller: &Caller,
    id: ActionId,
    seen: SeenProposal,
    method: DecisionMethod,
) -> Result<()> {
    let action = read::get_in(app, tx, caller.user, id)?;
    require_pending(&action, seen)?;
    if action.needs_passkey && method != DecisionMethod::Passkey {
        return Err(Error::Unauthenticated("this decision requires your passkey"));
    }
    // Without a price on the page the fill price could not be compared with anything.
    if action.kind() == Kind::Trade && seen.price.is_none() {
        return Err(conflict("there is no current price; try again in a moment"));
    }
    let now = app.clock.now();
    let price = seen.price.map(|it| it.to_string());
    // By the time of the database, because another process may execute it, whose clock differs.
    let due_at = match action.kind().is_executed_by_person() {
        true => None,
        false => Some(tx.now()?),
    };
    let changed = tx.execute(
        APPROVE,
        params![caller.user, id, now, method.as_str(), price.as_deref(), due_at, &seen.digest[..]],
    )?;
    if changed == 0 {
        return Err(too_late(&read::get_in(app, tx, caller.user, id)?));
    }
    let note = Note::new(
        caller,
        "action.approve",
        format!("Approved: {}", action.details().audit_title()),
    );
    record_decision(app, tx, Status::Approved, &action, note.by(method.as_str()))
}

pub async fn reject(
    app: &App,
    caller: &Caller,
    id: ActionId,
    seen: SeenProposal,
    reason: Option<String>,
) -> Result<Action> {
    require_person(caller)?;
    let reason = reason.map(|it| it.trim().to_owned()).filter(|it| !it.is_empty());
    if reason.as_ref().is_some_and(|it| it.chars().count() > REASON_LENGTH_MAX) {
        let message = format!("the reason must have at most {REASON_LENGTH_MAX} characters");
        return Err(Error::invalid("reason", message));
    }
    let (mine, by) = (app.clone(), caller.clone());
    let work = move |tx: &mut Tx<'_>| {
        let action = read::get_in(&mine, tx, by.user, id)?;
        require_pending(&action, seen)?;
        let now = mine.clock.now();
        let values = params![by.user, id, now, "rejected", "click", reason.as_deref()];
        if tx.execute(CLOSE, values)? == 0 {
            return Err(too_late(&read::get_in(&mine, tx, by.user, id)?));
        }
        let because = reason.as_ref().map(|it| format!(", because: {it}")).unwrap_or_default();
        let details = format!("Rejected: {}{because}", action.details().audit_title());
        let note = Note::new(&by, "action.reject", details).by("click");
        record_decision(&mine, tx, Status::Rejected, &action, note)
    };
    app.db.write(work).await?;
    app.changes.notify();
    read::get(app, caller, id).await
}

/// Withdraws a proposal in a transaction of the caller. Only the key or app that proposed it can.
pub fn cancel(app: &App, tx: &mut Tx<'_>, caller: &Caller, id: ActionId) -> Result<Action> {
    let action = read::get_in(app, tx, caller.user, id)?;
    if action.proposer_id != caller.credential_id() {
        // An action that the caller may not read does not exist for it.
        read::require_readable(caller, &action)?;
        return Err(conflict("only the key or app that proposed this can withdraw it"));
    }
    let now = app.clock.now();
    let values = params![caller.user, id, now, "cancelled", None::<&str>, None::<&str>];
    if tx.execute(CLOSE, values)? == 0 {
        return Err(too_late(&action));
    }
    let mut actor = Actor::from(caller);
    actor.label = Some(action.proposer_label.clone());
    let details = format!("Withdrew: {}", action.details().audit_title());
    record_decision(
        app,
        tx,
        Status::Cancelled,
        &action,
        Note::new(actor, "action.cancel", details),
    )?;
    read::get_in(app, tx, caller.user, id)
}

/// Records whether the person executed elsewhere what they approved.
pub async fn confirm(app: &App, caller: &Caller, id: ActionId, is_done: bool) -> Result<Action> {
    require_person(caller)?;
    let (mine, by) = (app.clone(), caller.clone());
    let work = move |tx: &mut Tx<'_>| {
        let action = read::get_in(&mine, tx, by.user, id)?;
        if !action.kind().is_executed_by_person() || action.status != Status::Approved {
            return Err(conflict("there is nothing to confirm"));
        }
        if is_done && !action.is_unchanged() {
            return Err(conflict(CHANGED));
        }
        execute::finish_by_hand(&mine, tx, &by, &action, is_done)
    };
    app.db.write(work).await?;
    app.changes.notify();
    read::get(app, caller, id).await
}

/// Undoes an executed correction.
pub async fn undo(app: &App, caller: &Caller, id: ActionId) -> Result<Action> {
    require_person(caller)?;
    let (mine, by) = (app.clone(), caller.clone());
    let work = move |tx: &mut Tx<'_>| {
        let action = read::get_in(&mine, tx, by.user, id)?;
        let now = mine.clock.now();
        let inverse = action.inverse.as_deref().filter(|_| action.can_be_undone(now));
        let inverse = inverse.ok_or_else(|| conflict("this can no longer be undone"))?;
        if tx.execute(UNDO, params![by.user, id, now])? == 0 {
            return Err(conflict("this was already undone"));
        }
        corrections::undo(&mine, tx, by.user, inverse)?;
        let details = format!("Undid: {}", action.details().audit_title());
        let note = Note::new(&by, "action.undo", details).about(id).digest(action.digest);
        audit::note(tx, by.user, now, note)
    };
    app.db.write(work).await?;
    app.changes.notify();
    read::get(app, caller, id).await
}

/// Requires that the proposal is pending and still the one that the person saw.
fn require_pending(action: &Action, seen: SeenProposal) -> Result<()> {
    if action.status != Status::PendingApproval {
        return Err(too_late(action));
    }
    if !action.is_unchanged() || action.digest != seen.digest {
        return Err(conflict(CHANGED));
    }
    Ok(())
}

fn too_late(action: &Action) -> Error {
    conflict(match action.status {
        Status::Expired => "this proposal has expired; it must be proposed again",
        Status::Rejected => "this proposal was already rejected",
        Status::Cancelled => "this proposal was withdrawn",
        Status::PendingApproval => "this proposal is waiting for approval",
        Status::Approved | Status::Executing => "this proposal was already approved",
        Status::Executed => "this proposal was already executed",
        Status::Failed => "this proposal was approved, but it failed",
    })
}

fn conflict(message: &str) -> Error {
    Error::Conflict { code: Code::Conflict, message: message.to_owned() }
}

/// Writes the event and the audit entry of a decision.
pub(super) fn record_decision(
    app: &App,
    tx: &mut Tx<'_>,
    status: Status,
    action: &Action,
    note: Note,
) -> Result<()> {
    let mut facts = action.facts();
    facts.status = status.as_str();
    outbox::append(&app.webhooks, tx, action.user, &[Event::ActionDecided(facts)])?;
    let waited = app.clock.now().as_microsecond() - action.created_at.as_microsecond();
    let (mine, kind) = (app.clone(), action.kind().as_str());
    tx.on_commit(move || mine.meters.count_decision(status.as_str(), kind, waited));
    let note = note.about(action.id).digest(action.digest);
    audit::note(tx, action.user, app.clock.now(), note)
}

// The update itself checks the time and the digest, so that nothing can change between check and decision.
const APPROVE: &str = "update actions set status = 'approved', decided_at = $3, updated_at = $3,
    decision_method = $4, seen_price = $5, due_at = $6
    where user_id = $1 and id = $2 and status = 'pending_approval' and expires_at > $3
    and digest = $7";
const CLOSE: &str = "update actions set status = $4, decided_at = $3, updated_at = $3,
    decision_method = $5, rejection_reason = $6, due_at = null
    where user_id = $1 and id = $2 and status = 'pending_approval' and expires_at > $3";
const UNDO: &str = "update actions set undone_at = $3, updated_at = $3
    where user_id = $1 and id = $2 and status = 'executed' and undone_at is null";

pub(super) const STATEMENTS: &[&str] = &[APPROVE, CLOSE, UNDO];
