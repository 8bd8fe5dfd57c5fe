//! The person's approval policy: how long proposals are valid, from which amount approval takes a passkey, and how many
//! proposals a key may make in a day.

use base::UserId;
use db::params;

use super::action::Action;
use super::payload::Kind;
use crate::access::sessions;
use crate::platform::audit::{self, Note};
use crate::{App, Caller, Error, Result, Tx};

pub const LIFE_SECONDS_MIN: i64 = 300;
pub const LIFE_SECONDS_MAX: i64 = 7 * 86_400;
/// By default, trades of $1,000 and more take a passkey.
const PASSKEY_FROM_MINOR: i64 = 100_000;
const PROPOSALS_A_DAY: i64 = 100;
const PROPOSALS_A_DAY_MAX: i64 = 10_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Policy {
    pub life_seconds: i64,
    /// `None` means that no amount takes a passkey.
    pub passkey_from_minor: Option<i64>,
    /// The limit for each key and each app.
    pub proposals_a_day: i64,
}

impl Policy {
    /// Whether approving this action takes a passkey, if the person has one.
    pub(super) fn requires_passkey(&self, action: &Action) -> bool {
        let moves_money = matches!(action.kind(), Kind::Trade | Kind::Transfer);
        let amount = action.amount_minor.unwrap_or(0);
        moves_money && self.passkey_from_minor.is_some_and(|from| amount >= from)
    }
}

pub async fn get_policy(app: &App, caller: &Caller) -> Result<Policy> {
    find(app, caller.user).await
}

pub(super) async fn find(app: &App, user: UserId) -> Result<Policy> {
    let found = app.db.first(GET, params![user], read).await?;
    Ok(with_defaults(app, found))
}

pub(super) fn find_in(app: &App, tx: &mut Tx<'_>, user: UserId) -> Result<Policy> {
    let found = tx.first(GET, params![user], read)?;
    Ok(with_defaults(app, found))
}

fn with_defaults(app: &App, found: Option<[Option<i64>; 3]>) -> Policy {
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

/// Sets the policy. This takes the person with a recent proof of identity, because somebody else may hold the session.
pub async fn set_policy(app: &App, caller: &Caller, policy: Policy) -> Result<()> {
    caller.require_owner("policy")?;
    sessions::require_proof(app, caller).await?;
    if !(LIFE_SECONDS_MIN..=LIFE_SECONDS_MAX).contains(&policy.life_seconds) {
        let message = "a proposal must be valid for 5 minutes to 7 days";
        return Err(Error::invalid("life_seconds", message));
    }
    if policy.passkey_from_minor.is_some_and(|it| it < 0) {
        let message = "the amount must not be negative";
        return Err(Error::invalid("passkey_from", message));
    }
    if !(1..=PROPOSALS_A_DAY_MAX).contains(&policy.proposals_a_day) {
        let message =
            format!("proposals per day must be a whole number from 1 to {PROPOSALS_A_DAY_MAX}");
        return Err(Error::invalid("proposals_a_day", message));
    }
    let (caller, now) = (caller.clone(), app.clock.now());
    let save = move |tx: &mut Tx<'_>| {
        let Policy { life_seconds, passkey_from_minor, proposals_a_day } = policy;
        let values = params![caller.user, life_seconds, passkey_from_minor, proposals_a_day, now];
        tx.execute(SET, values)?;
        let passkey = match passkey_from_minor {
            Some(minor) => format!("a passkey from {}", crate::trading::paper::usd(minor).pretty()),
            None => "no passkey".to_owned(),
        };
        let details = format!(
            "Changed the approval policy: proposals are valid for {} minutes, {passkey}, at most \
             {proposals_a_day} per day and key",
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
