//! Reading actions: one by its id or thread, or a page of them.

use base::{ActionId, Fixed9, ThreadId, Timestamp, UserId};
use db::params;
use wire::v1::Scope;

use super::action::{Action, Status};
use super::payload::Kind;
use super::policy::{self, Policy};
use crate::platform::cursors::{self, Page};
use crate::{App, Caller, Credential, Error, Result, Tx};

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Filter {
    pub status: Option<Status>,
    pub kind: Option<Kind>,
}

/// The most due actions that one background step handles.
const DUE_MAX: i64 = 200;

#[derive(Debug, Clone)]
pub struct ActionPage {
    pub actions: Vec<Action>,
    pub next_cursor: Option<String>,
}

/// Decides whether an action takes a passkey. It is read once for all actions of a response.
pub(super) struct PasskeyRules {
    policy: Policy,
    has_passkey: bool,
}

impl PasskeyRules {
    async fn load(app: &App, user: UserId) -> Result<PasskeyRules> {
        let count = app.db.first(PASSKEYS, params![user], |row| row.get::<i64>(0)).await?;
        let policy = policy::find(app, user).await?;
        Ok(PasskeyRules { policy, has_passkey: count.unwrap_or(0) > 0 })
    }

    pub(super) fn load_in(app: &App, tx: &mut Tx<'_>, user: UserId) -> Result<PasskeyRules> {
        let count = tx.first(PASSKEYS, params![user], |row| row.get::<i64>(0))?;
        let policy = policy::find_in(app, tx, user)?;
        Ok(PasskeyRules { policy, has_passkey: count.unwrap_or(0) > 0 })
    }

    fn apply(&self, action: &mut Action) {
        action.needs_passkey = self.has_passkey && self.policy.requires_passkey(action);
    }
}

/// Checks that the caller may read an action: its own, or any with the scope to read actions. A key that is limited to some
/// accounts may read only its own, because those of others may be about any account.
pub(super) fn require_readable(caller: &Caller, action: &Action) -> Result<()> {
    let own = action.proposer_id == caller.credential_id();
    match &caller.credential {
        Credential::Owner | Credential::Session { .. } => Ok(()),
        _ if own => Ok(()),
        _ => {
            caller.require(Scope::ActionsRead)?;
            if caller.limited_to().is_some() { Err(Error::NotFound("action")) } else { Ok(()) }
        }
    }
}

pub async fn get(app: &App, caller: &Caller, id: ActionId) -> Result<Action> {
    let now = app.clock.now();
    let found = app.db.first(GET, params![caller.user, id], |row| read(row, now)).await?;
    check_found(app, caller, found).await
}

pub async fn get_by_thread(app: &App, caller: &Caller, thread: ThreadId) -> Result<Action> {
    let now = app.clock.now();
    let found = app.db.first(BY_THREAD, params![caller.user, thread], |row| read(row, now)).await?;
    check_found(app, caller, found).await
}

async fn check_found(app: &App, caller: &Caller, found: Option<Action>) -> Result<Action> {
    let mut action = found.ok_or(Error::NotFound("action"))?;
    require_readable(caller, &action)?;
    PasskeyRules::load(app, caller.user).await?.apply(&mut action);
    Ok(action)
}

/// Reads an action in a transaction, for a caller that is about to change it.
pub(super) fn get_in(app: &App, tx: &mut Tx<'_>, user: UserId, id: ActionId) -> Result<Action> {
    let now = app.clock.now();
    let found = tx.first(GET, params![user, id], |row| read(row, now))?;
    let mut action = found.ok_or(Error::NotFound("action"))?;
    PasskeyRules::load_in(app, tx, user)?.apply(&mut action);
    Ok(action)
}

/// A page of actions, newest first.
pub async fn list(
    app: &App,
    caller: &Caller,
    filter: Filter,
    page: Page<'_>,
) -> Result<ActionPage> {
    caller.require(Scope::ActionsRead)?;
    let text = format!("{filter:?}");
    let scope = cursors::CursorScope { user: caller.user, list: "actions", filter: &text };
    let now = app.clock.now();
    let before = match page.cursor {
        Some(cursor) => {
            let position = <[u8; 16]>::try_from(app.cursors.open(&scope, now, cursor)?.as_slice());
            let malformed = |_| Error::internal("a cursor has the wrong length");
            ActionId::from_bytes(position.map_err(malformed)?)
        }
        None => ActionId::from_bytes([0xff; 16]),
    };
    let (visible, own) =
        (if caller.limited_to().is_some() { "own" } else { "all" }, caller.credential_id());
    let kind = filter.kind.map(Kind::as_str);
    // An expired action may still be stored as pending.
    let (status, expired) = match filter.status {
        Some(Status::PendingApproval) => (Some("pending_approval"), "no"),
        Some(Status::Expired) => (Some("expired"), "yes"),
        other => (other.map(Status::as_str), "any"),
    };
    let limit = page.limit as i64 + 1;
    let values = params![caller.user, before, status, kind, &own[..], expired, now, limit, visible];
    let mut actions = app.db.all(LIST, values, |row| read(row, now)).await?;
    let more = actions.len() > page.limit;
    actions.truncate(page.limit);
    let rules = PasskeyRules::load(app, caller.user).await?;
    actions.iter_mut().for_each(|it| rules.apply(it));
    let next_cursor = match actions.last().filter(|_| more) {
        Some(last) => Some(app.cursors.seal(&scope, now, &app.entropy, last.id.as_bytes())?),
        None => None,
    };
    Ok(ActionPage { actions, next_cursor })
}

/// Counts the actions that wait for the person's decision.
pub async fn count_pending(app: &App, caller: &Caller) -> Result<i64> {
    let now = app.clock.now();
    let count = app.db.first(PENDING, params![caller.user, now], |row| row.get(0)).await?;
    Ok(count.unwrap_or(0))
}

/// Lists approved or pending actions whose time has come, for the background steps.
pub(super) async fn list_due(app: &App, status: Status) -> Result<Vec<(UserId, ActionId)>> {
    let now = app.db.now().await?;
    let values = params![status.as_str(), now, DUE_MAX];
    Ok(app.db.all(DUE, values, |row| Ok((row.get(0)?, row.get(1)?))).await?)
}

pub(super) fn read(row: &db::Row<'_>, now: Timestamp) -> db::Result<Action> {
    let invalid = |column, reason: &str| db::Error::Decode { column, reason: reason.to_owned() };
    let stored: Status = row.get(4)?;
    let expires_at: Timestamp = row.get(17)?;
    let is_expired = stored == Status::PendingApproval && expires_at <= now;
    let digest: Vec<u8> = row.get(11)?;
    let proposer_id: Vec<u8> = row.get(13)?;
    let price: Option<&str> = row.get(21)?;
    Ok(Action {
        user: row.get(0)?,
        id: row.get(1)?,
        thread: row.get(2)?,
        action_type: row.get(3)?,
        status: if is_expired { Status::Expired } else { stored },
        payload_json: row.get(5)?,
        details_json: row.get(6)?,
        description: row.get(7)?,
        reason: row.get(8)?,
        account: row.get(9)?,
        amount_minor: row.get(10)?,
        digest: digest.try_into().map_err(|_| invalid(11, "a digest must have 32 bytes"))?,
        proposer: row.get(12)?,
        proposer_id: proposer_id.try_into().map_err(|_| invalid(13, "an id must have 16 bytes"))?,
        proposer_label: row.get(14)?,
        created_at: row.get(15)?,
        updated_at: if is_expired { expires_at } else { row.get(16)? },
        expires_at,
        decided_at: row.get(18)?,
        decision_method: row.get(19)?,
        rejection_reason: row.get(20)?,
        seen_price: price.map(Fixed9::parse).transpose().map_err(|_| invalid(21, "not a price"))?,
        due_at: row.get(22)?,
        reserved_minor: row.get(23)?,
        executed_at: row.get(24)?,
        error_code: row.get(25)?,
        error_message: row.get(26)?,
        result: row.get(27)?,
        inverse: row.get(28)?,
        undone_at: row.get(29)?,
        needs_passkey: false,
    })
}

macro_rules! select {
    ($rest:literal) => {
        concat!(
            "select user_id, id, thread_id, action_type, status, payload, details, description,
            reason, account_id, amount_minor, digest, proposer, proposer_id, proposer_label,
            created_at, updated_at, expires_at, decided_at, decision_method, rejection_reason,
            seen_price, due_at, reserved_minor, executed_at, error_code, error_message, result,
            inverse, undone_at from actions ",
            $rest
        )
    };
}

const GET: &str = select!("where user_id = $1 and id = $2");
const BY_THREAD: &str = select!("where user_id = $1 and thread_id = $2");
const LIST: &str = select!(
    "where user_id = $1 and id < $2
    and (cast($3 as text) is null or status = $3 or ($6 = 'yes' and status = 'pending_approval'))
    and (cast($4 as text) is null or kind = $4)
    and ($9 = 'all' or proposer_id = $5)
    and ($6 = 'any' or status <> 'pending_approval' or ($6 = 'yes' and expires_at <= $7)
        or ($6 = 'no' and expires_at > $7))
    order by id desc limit $8"
);
const DUE: &str = "select user_id, id from actions where status = $1 and due_at <= $2
    order by due_at, id limit $3";
const PENDING: &str = "select cast(count(*) as bigint) from actions
    where user_id = $1 and status = 'pending_approval' and expires_at > $2";
const PASSKEYS: &str = "select cast(count(*) as bigint) from passkeys where user_id = $1";

pub(super) const STATEMENTS: &[&str] = &[GET, BY_THREAD, LIST, DUE, PENDING, PASSKEYS];
