//! What the person asks of proposals: how long they live, from which amount a passkey is needed, and how many a key may
//! make in a day.

use base::UserId;
use db::params;

use super::{Action, Kind};
use crate::access::sessions;
use crate::platform::audit::{self, Note};
use crate::{App, Caller, Error, Result, Tx};

pub const LIFE_SECONDS_MIN: i64 = 300;
pub const LIFE_SECONDS_MAX: i64 = 7 * 86_400;
/// Trades of a thousand dollars and more, unless the person says otherwise.
const PASSKEY_FROM_MINOR: i64 = 100_000;
const PROPOSALS_A_DAY: i64 = 100;
const PROPOSALS_A_DAY_MAX: i64 = 10_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Policy {
    pub life_seconds: i64,
    /// None asks for no passkey, whatever the amount.
    pub passkey_from_minor: Option<i64>,
    /// By each key and each app.
    pub proposals_a_day: i64,
}

/// What the person sets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wish {
    pub life_seconds: i64,
    pub passkey_from_minor: Option<i64>,
    pub proposals_a_day: i64,
}

impl Policy {
    /// Whether deciding this takes a passkey, if the person has one.
    pub(super) fn asks_passkey(&self, action: &Action) -> bool {
        let moves_money = matches!(action.kind(), Kind::Trade | Kind::Transfer);
        let amount = action.amount_minor.unwrap_or(0);
        moves_money && self.passkey_from_minor.is_some_and(|from| amount >= from)
    }
}

pub async fn policy(app: &App, caller: &Caller) -> Result<Policy> {
    of(app, caller.user).await
}

pub(super) async fn of(app: &App, user: UserId) -> Result<Policy> {
    let found = app.db.first(GET, params![user], read).await?;
    Ok(or_default(app, found))
}

pub(super) fn of_in(app: &App, tx: &mut Tx<'_>, user: UserId) -> Result<Policy> {
    let found = tx.first(GET, params![user], read)?;
    Ok(or_default(app, found))
}

fn or_default(app: &App, found: Option<[Option<i64>; 3]>) -> Policy {
    let Some([life, passkey, proposals]) = found else {
        return Policy {
            life_seconds: app.approvals_life_seconds,
            passkey_from_minor: Some(PASSKEY_FROM_MINOR),
            proposals_a_day: PROPOSALS_A_DAY,
        };
    };
    Policy {
        life_seconds: life.unwrap_or(app.approvals_life_seconds),
        passkey_from_minor: passkey,
        proposals_a_day: proposals.unwrap_or(PROPOSALS_A_DAY),
    }
}

/// Only the person themselves, with fresh proof: what loosens the rules must not come from whom they bind, which
/// includes a session that somebody else may hold.
pub async fn set_policy(app: &App, caller: &Caller, wish: Wish) -> Result<()> {
    caller.require_owner("policy")?;
    sessions::require_proof(app, caller).await?;
    if !(LIFE_SECONDS_MIN..=LIFE_SECONDS_MAX).contains(&wish.life_seconds) {
        let message = "a proposal must live for 5 minutes to 7 days";
        return Err(Error::invalid("life_seconds", message));
    }
    if wish.passkey_from_minor.is_some_and(|it| it < 0) {
        let message = "the amount must not be below zero";
        return Err(Error::invalid("passkey_from", message));
    }
    if !(1..=PROPOSALS_A_DAY_MAX).contains(&wish.proposals_a_day) {
        let message =
            format!("proposals a day must be a whole number from 1 to {PROPOSALS_A_DAY_MAX}");
        return Err(Error::invalid("proposals_a_day", message));
    }
    let (caller, now) = (caller.clone(), app.clock.now());
    let save = move |tx: &mut Tx<'_>| {
        let Wish { life_seconds, passkey_from_minor, proposals_a_day } = wish;
        let values = params![caller.user, life_seconds, passkey_from_minor, proposals_a_day, now];
        tx.execute(SET, values)?;
        let passkey = match passkey_from_minor {
            Some(minor) => format!("a passkey from {}", crate::trading::paper::usd(minor).pretty()),
            None => "no passkey".to_owned(),
        };
        let details = format!(
            "Set the rules of approval: proposals live {} minutes, {passkey}, {proposals_a_day} a \
             day by each key",
            life_seconds / 60
        );
        audit::note(tx, caller.user, now, Note::new(&caller, "policy.update", details))
    };
    app.db.write(save).await
}

fn read(row: &db::Row<'_>) -> db::Result<[Option<i64>; 3]> {
    Ok([row.get(0)?, row.get(1)?, row.get(2)?])
}

const GET: &str = "select life_seconds, passkey_from_minor, proposals_a_day
    from approval_policies where user_id = $1";
const SET: &str = "insert into approval_policies
    (user_id, life_seconds, passkey_from_minor, proposals_a_day, updated_at)
    values ($1, $2, $3, $4, $5) on conflict (user_id) do update set
    life_seconds = excluded.life_seconds, passkey_from_minor = excluded.passkey_from_minor,
    proposals_a_day = excluded.proposals_a_day, updated_at = excluded.updated_at";

pub(super) const STATEMENTS: &[&str] = &[GET, SET];
