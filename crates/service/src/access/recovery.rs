//! Recovery codes: ten codes for a sheet of paper. Each works once, in place of the passkey at the second step.

use base::UserId;
use db::params;
use sha2::{Digest as _, Sha256};

use crate::access::{codes, sessions};
use crate::platform::audit::{self, Note};
use crate::platform::mail_queue::{self, MailKind};
use crate::{App, Caller, Result, Tx};

const CODES: usize = 10;

/// Creates new codes, which are shown only once, and deletes the earlier ones.
pub async fn create(app: &App, caller: &Caller) -> Result<Vec<String>> {
    caller.require_owner("recovery code")?;
    sessions::require_proof(app, caller).await?;
    let made: Vec<String> = (0..CODES).map(|_| codes::format(app.entropy.bytes())).collect();
    let (caller, now, kept) = (caller.clone(), app.clock.now(), made.clone());
    let mine = app.clone();
    app.db
        .write(move |tx| {
            tx.execute(DELETE, params![caller.user])?;
            for code in &kept {
                tx.execute(INSERT, params![caller.user, &hash(caller.user, code)[..], now])?;
            }
            mail_queue::notify(tx, &mine, caller.user, MailKind::RecoveryCodesCreated)?;
            let note = Note::new(&caller, "recovery_codes.create", "Created new recovery codes");
            audit::note(tx, caller.user, now, note)
        })
        .await?;
    Ok(made)
}

/// Counts the unused codes.
pub async fn remaining(app: &App, caller: &Caller) -> Result<i64> {
    caller.require_owner("recovery code")?;
    let left = app.db.first(COUNT_UNUSED, params![caller.user], |row| row.get(0)).await?;
    Ok(left.unwrap_or(0))
}

/// Uses up a code. Returns whether it was one of the person's unused codes.
pub(crate) fn use_code(tx: &mut Tx<'_>, app: &App, user: UserId, typed: &str) -> Result<bool> {
    let hash = hash(user, typed);
    Ok(tx.execute(USE, params![user, &hash[..], app.clock.now()])? == 1)
}

/// The hash includes the person, so that one guess tests the codes of one person only.
fn hash(user: UserId, code: &str) -> [u8; 32] {
    let mut hash = Sha256::new();
    hash.update(user.as_bytes());
    hash.update(codes::parse(code).unwrap_or_default());
    hash.finalize().into()
}

const INSERT: &str =
    "insert into recovery_codes (user_id, code_hash, created_at) values ($1, $2, $3)";
const DELETE: &str = "delete from recovery_codes where user_id = $1";
const COUNT_UNUSED: &str =
    "select count(*) from recovery_codes where user_id = $1 and used_at is null";
const USE: &str = "update recovery_codes set used_at = $3
    where user_id = $1 and code_hash = $2 and used_at is null";

pub(crate) const STATEMENTS: &[&str] = &[INSERT, DELETE, COUNT_UNUSED, USE];
