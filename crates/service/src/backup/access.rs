//! Access after a restore. A backup is older than the keys, sessions and links that were ended since it was made, and
//! must not bring them back to life.

use base::{KeyId, Timestamp, UserId};
use db::params;

use crate::chains;
use crate::platform::audit::{self, Actor, ActorKind, Note};
use crate::{Result, Tx};

/// A key that works again after a restore.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LiveKey {
    pub id: KeyId,
    pub name: String,
    pub email: String,
    pub last_used_at: Option<Timestamp>,
    pub last_used_address: Option<String>,
}

/// A webhook endpoint that is sent to again after a restore.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LiveEndpoint {
    pub url: String,
    pub email: String,
}

/// The access that works after a restore, for the operator to review.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RestoredAccess {
    /// Sessions from the backup, which the restore ended.
    pub sessions_ended: u64,
    /// Keys that this database knew to be revoked, and that stay revoked.
    pub kept_revoked: u64,
    pub keys: Vec<LiveKey>,
    pub endpoints: Vec<LiveEndpoint>,
}

/// Reads and deletes the list of revoked keys of the database that is about to be filled. The backup brings its own.
pub(super) fn take_revoked_keys(tx: &mut Tx<'_>) -> Result<Vec<(KeyId, Timestamp)>> {
    let revoked = tx.all(LIST_REVOKED, &[], |row| Ok((row.get(0)?, row.get(1)?)))?;
    tx.execute(DELETE_REVOKED, &[])?;
    Ok(revoked)
}

/// Ends the access that the backup brought back: sessions, unfinished sign-ins, tokens of apps, links, open invitations,
/// and keys that were revoked in this database. Writes the restore into everyone's audit trail.
pub(super) fn end_stale_access(
    tx: &mut Tx<'_>,
    revoked: &[(KeyId, Timestamp)],
    made_at: &str,
    now: Timestamp,
) -> Result<RestoredAccess> {
    let sessions_ended = tx.execute(CLEAR_SESSIONS, &[])?;
    for clear in CLEAR {
        tx.execute(clear, &[])?;
    }
    let mut access = RestoredAccess { sessions_ended, ..RestoredAccess::default() };
    for (key, at) in revoked {
        tx.execute(REMEMBER_KEY, params![*key, *at])?;
        access.kept_revoked += tx.execute(REVOKE, params![*key, *at])?;
    }
    // A backup of an older version has no list of revoked keys.
    tx.execute(REMEMBER_REVOKED, &[])?;
    chains::anchor_missing_in(tx, now)?;
    for user in tx.all(PEOPLE, &[], |row| row.get::<UserId>(0))? {
        let actor = Actor { kind: ActorKind::Operator, id: None, label: None, address: None };
        let details = format!("Restored the backup of {made_at} and ended all sessions");
        audit::note(tx, user, now, Note::new(actor, "backup.restore", details))?;
    }
    access.keys = tx.all(LIVE_KEYS, params![now], read_key)?;
    access.endpoints = tx.all(LIVE_ENDPOINTS, params![now], |row| {
        Ok(LiveEndpoint { url: row.get(0)?, email: row.get(1)? })
    })?;
    Ok(access)
}

fn read_key(row: &db::Row<'_>) -> db::Result<LiveKey> {
    Ok(LiveKey {
        id: row.get(0)?,
        name: row.get(1)?,
        email: row.get(2)?,
        last_used_at: row.get(3)?,
        last_used_address: row.get(4)?,
    })
}

const LIST_REVOKED: &str = "select key_id, ended_at from ended_keys order by key_id";
const DELETE_REVOKED: &str = "delete from ended_keys";
const REMEMBER_KEY: &str = "insert into ended_keys (key_id, ended_at) values ($1, $2)
    on conflict (key_id) do nothing";
const REMEMBER_REVOKED: &str = "insert into ended_keys (key_id, ended_at)
    select id, revoked_at from api_keys where revoked_at is not null
    on conflict (key_id) do nothing";
const REVOKE: &str = "update api_keys set revoked_at = $2 where id = $1 and revoked_at is null";
const CLEAR_SESSIONS: &str = "delete from sessions";
const CLEAR: [&str; 11] = [
    "delete from mail_queue",
    "delete from mail_alerts",
    "delete from password_resets",
    "delete from calendar_feeds",
    "delete from known_devices",
    "delete from second_steps",
    "delete from passkey_challenges",
    "delete from oauth_codes",
    "delete from oauth_tokens",
    "delete from portal_tokens",
    "delete from invitations where used_at is null",
];
const PEOPLE: &str = "select id from users order by id";
const LIVE_KEYS: &str = "select k.id, k.name, u.email, k.last_used_at, k.last_used_address
    from api_keys k join users u on u.id = k.user_id
    where k.revoked_at is null and (k.expires_at is null or k.expires_at > $1)
    order by u.email, k.id";
const LIVE_ENDPOINTS: &str = "select e.url, u.email from webhook_endpoints e
    join users u on u.id = e.user_id join api_keys k on k.user_id = e.user_id and k.id = e.key_id
    where e.status = 'active' and k.revoked_at is null
    and (k.expires_at is null or k.expires_at > $1) order by u.email, e.id";

pub(super) fn statements() -> Vec<&'static str> {
    let own = [
        LIST_REVOKED,
        DELETE_REVOKED,
        REMEMBER_KEY,
        REMEMBER_REVOKED,
        REVOKE,
        CLEAR_SESSIONS,
        PEOPLE,
        LIVE_KEYS,
        LIVE_ENDPOINTS,
    ];
    [&own[..], &CLEAR].concat()
}
