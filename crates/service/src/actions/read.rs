//! Reading actions: one, by its thread, or a page of them.

use base::{ActionId, Fixed9, ThreadId, Timestamp, UserId};
use db::params;
use wire::v1::Scope;

use super::policy::{self, Policy};
use super::{Action, ActionType, Kind, Proposer, Status};
use crate::platform::cursors::{self, Page};
use crate::{App, Caller, Credential, Error, Result, Tx};

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Filter {
    pub status: Option<Status>,
    pub kind: Option<Kind>,
}

#[derive(Debug, Clone)]
pub struct Listed {
    pub actions: Vec<Action>,
    pub next_cursor: Option<String>,
}

/// What decides whether a passkey is asked for, read once for all actions of an answer.
pub(super) struct Rules {
    policy: Policy,
    has_passkey: bool,
}

impl Rules {
    async fn of(app: &App, user: UserId) -> Result<Rules> {
        let count = app.db.first(PASSKEYS, params![user], |row| row.get::<i64>(0)).await?;
        let policy = policy::of(app, user).await?;
        Ok(Rules { policy, has_passkey: count.unwrap_or(0) > 0 })
    }

    pub(super) fn of_in(app: &App, tx: &mut Tx<'_>, user: UserId) -> Result<Rules> {
        let count = tx.first(PASSKEYS, params![user], |row| row.get::<i64>(0))?;
        let policy = policy::of_in(app, tx, user)?;
        Ok(Rules { policy, has_passkey: count.unwrap_or(0) > 0 })
    }

    fn apply(&self, action: &mut Action) {
        action.needs_passkey = self.has_passkey && self.policy.asks_passkey(action);
    }
}

/// Whoever proposed an action may follow it; anybody else needs to be allowed to read actions. A key that is limited to
/// some accounts sees its own alone, because what others propose may be about any account.
pub(super) fn may_read(caller: &Caller, action: &Action) -> Result<()> {
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
    finished(app, caller, found).await
}

pub async fn thread(app: &App, caller: &Caller, thread: ThreadId) -> Result<Action> {
    let now = app.clock.now();
    let found = app.db.first(BY_THREAD, params![caller.user, thread], |row| read(row, now)).await?;
    finished(app, caller, found).await
}

async fn finished(app: &App, caller: &Caller, found: Option<Action>) -> Result<Action> {
    let mut action = found.ok_or(Error::NotFound("action"))?;
    may_read(caller, &action)?;
    Rules::of(app, caller.user).await?.apply(&mut action);
    Ok(action)
}

/// In a transaction, and for whoever may change it.
pub(super) fn get_in(app: &App, tx: &mut Tx<'_>, user: UserId, id: ActionId) -> Result<Action> {
    let now = app.clock.now();
    let found = tx.first(GET, params![user, id], |row| read(row, now))?;
    let mut action = found.ok_or(Error::NotFound("action"))?;
    Rules::of_in(app, tx, user)?.apply(&mut action);
    Ok(action)
}

/// A page of actions, newest first.
pub async fn list(app: &App, caller: &Caller, filter: Filter, page: Page<'_>) -> Result<Listed> {
    caller.require(Scope::ActionsRead)?;
    let text = format!("{filter:?}");
    let scope = cursors::CursorScope { user: caller.user, list: "actions", filter: &text };
    let now = app.clock.now();
    let before = match page.cursor {
        Some(cursor) => {
            let place = <[u8; 16]>::try_from(app.cursors.open(&scope, now, cursor)?.as_slice());
            ActionId::from_bytes(place.map_err(|_| Error::internal("a cursor of another shape"))?)
        }
        None => ActionId::from_bytes([0xff; 16]),
    };
    let (whose, own) =
        (if caller.limited_to().is_some() { "own" } else { "all" }, caller.credential_id());
    let kind = filter.kind.map(Kind::as_str);
    // One whose time is over may still be written down as pending.
    let (status, over) = match filter.status {
        Some(Status::PendingApproval) => (Some("pending_approval"), "no"),
        Some(Status::Expired) => (Some("expired"), "yes"),
        other => (other.map(Status::as_str), "any"),
    };
    let limit = page.limit as i64 + 1;
    let values = params![caller.user, before, status, kind, &own[..], over, now, limit, whose];
    let mut actions = app.db.all(LIST, values, |row| read(row, now)).await?;
    let more = actions.len() > page.limit;
    actions.truncate(page.limit);
    let rules = Rules::of(app, caller.user).await?;
    actions.iter_mut().for_each(|it| rules.apply(it));
    let next_cursor = match actions.last().filter(|_| more) {
        Some(last) => Some(app.cursors.seal(&scope, now, &app.entropy, last.id.as_bytes())?),
        None => None,
    };
    Ok(Listed { actions, next_cursor })
}

/// How many wait for the person.
pub async fn pending_count(app: &App, caller: &Caller) -> Result<i64> {
    let now = app.clock.now();
    let count = app.db.first(PENDING, params![caller.user, now], |row| row.get(0)).await?;
    Ok(count.unwrap_or(0))
}

pub(super) fn read(row: &db::Row<'_>, now: Timestamp) -> db::Result<Action> {
    let decode = |column, reason: &str| db::Error::Decode { column, reason: reason.to_owned() };
    let stored = Status::parse(row.get(4)?).ok_or_else(|| decode(4, "an unknown status"))?;
    let expires_at: Timestamp = row.get(17)?;
    let is_over = stored == Status::PendingApproval && expires_at <= now;
    let digest: Vec<u8> = row.get(11)?;
    let proposer_id: Vec<u8> = row.get(13)?;
    let price: Option<&str> = row.get(21)?;
    Ok(Action {
        user: row.get(0)?,
        id: row.get(1)?,
        thread: row.get(2)?,
        action_type: ActionType::parse(row.get(3)?).ok_or_else(|| decode(3, "an unknown type"))?,
        status: if is_over { Status::Expired } else { stored },
        payload: row.get(5)?,
        details: row.get(6)?,
        description: row.get(7)?,
        reason: row.get(8)?,
        account: row.get(9)?,
        amount_minor: row.get(10)?,
        digest: digest.try_into().map_err(|_| decode(11, "no digest"))?,
        proposer: Proposer::parse(row.get(12)?).ok_or_else(|| decode(12, "nobody we know"))?,
        proposer_id: proposer_id.try_into().map_err(|_| decode(13, "no id"))?,
        proposer_label: row.get(14)?,
        created_at: row.get(15)?,
        updated_at: if is_over { expires_at } else { row.get(16)? },
        expires_at,
        decided_at: row.get(18)?,
        decision_method: row.get(19)?,
        rejection_reason: row.get(20)?,
        seen_price: price.map(Fixed9::parse).transpose().map_err(|_| decode(21, "no price"))?,
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
const PENDING: &str = "select cast(count(*) as bigint) from actions
    where user_id = $1 and status = 'pending_approval' and expires_at > $2";
const PASSKEYS: &str = "select cast(count(*) as bigint) from passkeys where user_id = $1";

pub(super) const STATEMENTS: &[&str] = &[GET, BY_THREAD, LIST, PENDING, PASSKEYS];
