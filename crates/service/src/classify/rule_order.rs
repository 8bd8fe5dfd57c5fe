//! The order of a person's rules. The first rule that matches decides, so a person can move rules up and down.

use base::{AccountId, RuleId};
use calc::enrich::precedence;
use db::{Tx, params};

use crate::platform::audit::{self, Note};
use crate::platform::dirty_queue;
use crate::{App, Caller, Error, Result};

/// Where a rule moves by one place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Move {
    Up,
    Down,
}

/// Moves a rule by one place. Nothing changes if it is already at that end.
///
/// The first move gives every rule a place, so that later changes of the default order move none.
pub async fn move_rule(app: &App, caller: &Caller, rule: RuleId, to: Move) -> Result<()> {
    caller.require_owner("rule")?;
    let (caller, now) = (caller.clone(), app.clock.now());
    let move_in = move |tx: &mut Tx<'_>| {
        let user = caller.user;
        let mut age = 0;
        let mut rules = tx.all(PLACES, params![user], |row| {
            let (id, position): (RuleId, Option<i64>) = (row.get(0)?, row.get(1)?);
            let key: Option<&str> = row.get(2)?;
            let account: Option<AccountId> = row.get(3)?;
            age += 1;
            Ok((precedence(position, (key.is_some(), account.is_some()), age), id, position))
        })?;
        rules.sort_by_key(|(place, _, _)| *place);
        let at = rules.iter().position(|(_, id, _)| *id == rule);
        let at = at.ok_or(Error::NotFound("rule"))?;
        let other = match to {
            Move::Up => at.checked_sub(1),
            Move::Down => Some(at + 1).filter(|it| *it < rules.len()),
        };
        let Some(other) = other else { return Ok(()) };
        rules.swap(at, other);
        for (index, (_, id, position)) in rules.iter().enumerate() {
            let place = index as i64 + 1;
            if *position != Some(place) {
                tx.execute(SET, params![user, *id, place])?;
            }
        }
        let note = Note::new(&caller, "rule.move", "Changed the order of rules").about(rule);
        audit::note(tx, user, now, note)?;
        dirty_queue::mark_all_dirty(tx, user)
    };
    app.db.write(move_in).await
}

const PLACES: &str = "select id, position, merchant_key, account_id from rules
    where user_id = $1 order by created_at, id limit 2000";
const SET: &str = "update rules set position = $3 where user_id = $1 and id = $2";

pub(super) const STATEMENTS: &[&str] = &[PLACES, SET];
