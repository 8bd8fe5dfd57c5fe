//! Expiry of proposals that were not decided in time.

use base::{ActionId, UserId};
use db::params;

use super::action::Status;
use super::{decide, read};
use crate::platform::audit::{Actor, Note};
use crate::{App, Result, Tx};

/// Background step: saves that proposals have expired. Reads treat them as expired even before, so it may run late.
pub async fn expire_once(app: &App) -> Result<usize> {
    let mut count = 0;
    for (user, id) in read::list_due(app, Status::PendingApproval).await? {
        let mine = app.clone();
        let expired = app.db.write(move |tx| expire(&mine, tx, user, id)).await?;
        count += usize::from(expired);
    }
    if count > 0 {
        app.changes.notify();
    }
    Ok(count)
}

/// Returns whether the proposal was still pending.
fn expire(app: &App, tx: &mut Tx<'_>, user: UserId, id: ActionId) -> Result<bool> {
    let action = read::get_in(app, tx, user, id)?;
    let now = tx.now()?;
    if tx.execute(EXPIRE, params![user, id, now])? == 0 {
        return Ok(false);
    }
    let details = format!("Expired without a decision: {}", action.details().audit_title());
    let note = Note::new(Actor::system(), "action.expire", details);
    decide::record_decision(app, tx, Status::Expired, &action, note)?;
    Ok(true)
}

const EXPIRE: &str = "update actions set status = 'expired', updated_at = $3, due_at = null
    where user_id = $1 and id = $2 and status = 'pending_approval' and expires_at <= $3";

pub(super) const STATEMENTS: &[&str] = &[EXPIRE];
