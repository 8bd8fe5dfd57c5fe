//! The audit trail: what was done with a person's account, by whom and from where. The hash of each entry covers the
//! entry before, which reveals changed or removed entries. The last entry is anchored (`anchors`), which reveals a
//! trail that was cut off.

use std::collections::HashMap;

use base::{GrantId, KeyId, Timestamp, UserId};
use db::params;
use sha2::{Digest as _, Sha256};

use crate::platform::anchors::{self, AnchorMismatch, ChainEnd, ChainWalk};
use crate::platform::person_lock;
use crate::{App, Caller, Credential, Result, Tx};

/// The person, key, app or process that did something, as it was known at that moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Actor {
    pub kind: ActorKind,
    pub id: Option<String>,
    pub label: Option<String>,
    pub address: Option<String>,
}

base::words!(ActorKind {
    Person => "person",
    Operator => "operator",
    Key => "key",
    App => "app",
    /// Somebody who is not signed in.
    Visitor => "visitor",
    /// Evenkeel itself: it executes what was approved and expires what was not decided.
    System => "system",
});
db::word_columns!(ActorKind);

impl Actor {
    pub fn visitor(address: Option<&str>) -> Actor {
        let address = address.map(str::to_owned);
        Actor { kind: ActorKind::Visitor, id: None, label: None, address }
    }

    pub fn system() -> Actor {
        Actor { kind: ActorKind::System, id: None, label: None, address: None }
    }
}

impl From<&Caller> for Actor {
    fn from(caller: &Caller) -> Actor {
        let (kind, id, address) = match &caller.credential {
            Credential::Key { id, .. } => (ActorKind::Key, id.to_string(), None),
            Credential::Grant { id, .. } => (ActorKind::App, id.to_string(), None),
            Credential::Session { id, address } => {
                (ActorKind::Person, id.to_string(), address.as_deref().map(str::to_owned))
            }
            Credential::Owner => (ActorKind::Operator, caller.user.to_string(), None),
        };
        Actor { kind, id: Some(id), label: None, address }
    }
}

/// A new entry for the audit trail. `action` is a noun and a verb, such as `key.create`. `details` is a sentence for
/// people and holds no secret.
#[derive(Debug, Clone)]
pub struct Note {
    pub actor: Actor,
    pub action: &'static str,
    pub subject: Option<String>,
    pub details: String,
    /// How the person authenticated, for a sign-in or a decision.
    pub method: Option<&'static str>,
    /// The digest of the proposal, for a decision.
    pub digest: Option<[u8; 32]>,
}

impl Note {
    pub fn new(actor: impl Into<Actor>, action: &'static str, details: impl Into<String>) -> Note {
        let (actor, details) = (actor.into(), details.into());
        Note { actor, action, subject: None, details, method: None, digest: None }
    }

    pub fn about(mut self, subject: impl ToString) -> Note {
        self.subject = Some(subject.to_string());
        self
    }

    /// Adds the digest of the proposal as the person saw it.
    pub fn digest(mut self, digest: [u8; 32]) -> Note {
        self.digest = Some(digest);
        self
    }

    pub fn by(mut self, method: &'static str) -> Note {
        self.method = Some(method);
        self
    }
}

/// A stored entry of the audit trail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditEntry {
    pub number: i64,
    pub at: Timestamp,
    pub actor: Actor,
    pub action: String,
    pub subject: Option<String>,
    pub details: String,
    pub method: Option<String>,
    pub digest: Option<Vec<u8>>,
    pub hash: Vec<u8>,
}

/// Appends an entry in the transaction of the change it describes. The person's row is locked first, so that two
/// writers cannot append after the same entry.
pub fn note(tx: &mut Tx<'_>, user: UserId, at: Timestamp, note: Note) -> Result<()> {
    let before = lock_end(tx, user)?;
    let Note { actor, action, subject, details, method, digest } = note;
    let mut entry = AuditEntry {
        number: before.number + 1,
        at,
        actor,
        action: action.to_owned(),
        subject,
        details,
        method: method.map(str::to_owned),
        digest: digest.map(Vec::from),
        hash: Vec::new(),
    };
    entry.hash = entry.chained_hash(&before.hash);
    tx.execute(
        INSERT,
        params![
            user,
            entry.number,
            entry.at,
            entry.actor.kind.as_str(),
            &entry.actor.id,
            &entry.actor.label,
            &entry.action,
            &entry.subject,
            &entry.details,
            &entry.method,
            &entry.actor.address,
            entry.digest.as_deref(),
            &entry.hash[..]
        ],
    )?;
    let after = ChainEnd { number: entry.number, hash: entry.hash };
    anchors::advance(tx, user, anchors::AUDIT, &before, &after)
}

/// Locks the person until the transaction ends, and reads the end of their trail.
pub(crate) fn lock_end(tx: &mut Tx<'_>, user: UserId) -> Result<ChainEnd> {
    person_lock::lock(tx, user)?;
    let last = |row: &db::Row<'_>| Ok(ChainEnd { number: row.get(0)?, hash: row.get(1)? });
    Ok(tx.first(LAST, params![user], last)?.unwrap_or_default())
}

impl AuditEntry {
    /// The hash of this entry, which covers the hash of the entry before.
    fn chained_hash(&self, before: &[u8]) -> Vec<u8> {
        let mut hash = Sha256::new();
        hash.update(before);
        hash.update(self.number.to_be_bytes());
        hash.update(self.at.as_microsecond().to_be_bytes());
        let texts = [
            Some(self.actor.kind.as_str()),
            self.actor.id.as_deref(),
            self.actor.label.as_deref(),
            Some(&self.action),
            self.subject.as_deref(),
            Some(&self.details),
            self.method.as_deref(),
            self.actor.address.as_deref(),
        ];
        let fields = texts.iter().map(|it| it.map(str::as_bytes)).chain([self.digest.as_deref()]);
        for field in fields {
            // Each field is preceded by its length, so that different lists of fields never give the same bytes.
            hash.update(field.map_or(-1, |it| it.len() as i64).to_be_bytes());
            hash.update(field.unwrap_or_default());
        }
        hash.finalize().to_vec()
    }
}

/// Lists entries, newest first, optionally only those before an entry's number.
pub async fn list(
    app: &App,
    caller: &Caller,
    before: Option<i64>,
    limit: usize,
) -> Result<Vec<AuditEntry>> {
    caller.require_owner("audit trail")?;
    let before = before.unwrap_or(i64::MAX);
    Ok(app.db.all(LIST, params![caller.user, before, limit as i64], read).await?)
}

/// The names of the person's keys and apps by id, because entries hold only the ids.
pub async fn actor_names(app: &App, caller: &Caller) -> Result<HashMap<String, String>> {
    caller.require_owner("audit trail")?;
    let key = |row: &db::Row<'_>| Ok((row.get::<KeyId>(0)?.to_string(), row.get(1)?));
    let grant = |row: &db::Row<'_>| Ok((row.get::<GrantId>(0)?.to_string(), row.get(1)?));
    let keys = app.db.all(KEY_NAMES, params![caller.user], key).await?;
    let apps = app.db.all(APP_NAMES, params![caller.user], grant).await?;
    Ok(keys.into_iter().chain(apps).collect())
}

/// The result of verifying the whole trail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    Intact {
        entries: i64,
        /// How many entries there were when the trail was first anchored. Entries that were cut off before that leave
        /// no trace. Zero for a trail that was anchored from its beginning.
        unanchored: i64,
        anchored_at: Timestamp,
    },
    /// The first entry whose hash does not follow from the entry before.
    Broken { number: i64 },
    /// The hashes are right, but the end of the trail does not match its anchor.
    AnchorMismatch(AnchorMismatch),
}

/// Verifies the hashes of the trail from the first entry to the last, and compares its end with the anchor.
pub async fn verify(app: &App, caller: &Caller) -> Result<Verdict> {
    const STEP: i64 = 1_000;
    caller.require_owner("audit trail")?;
    let anchor = anchors::find(app, caller.user, anchors::AUDIT).await?;
    let anchored = anchor.as_ref().map_or(0, |it| it.end.number);
    let mut found = ChainWalk::default();
    loop {
        let values = params![caller.user, found.end.number, STEP];
        let entries = app.db.all(AFTER, values, read).await?;
        if entries.is_empty() {
            break;
        }
        for entry in entries {
            let number = found.end.number + 1;
            if entry.number != number || entry.chained_hash(&found.end.hash) != entry.hash {
                return Ok(Verdict::Broken { number });
            }
            found.step(ChainEnd { number, hash: entry.hash }, anchored);
        }
    }
    let after = anchors::find(app, caller.user, anchors::AUDIT).await?;
    let chain = (caller.user, anchors::AUDIT);
    match (anchors::check(app, chain, (anchor.as_ref(), after.as_ref()), &found), after) {
        (None, Some(anchor)) => Ok(Verdict::Intact {
            entries: found.end.number,
            unanchored: anchor.since_number,
            anchored_at: anchor.since_at,
        }),
        (mismatch, _) => Ok(Verdict::AnchorMismatch(mismatch.unwrap_or(AnchorMismatch::Missing))),
    }
}

fn read(row: &db::Row<'_>) -> db::Result<AuditEntry> {
    Ok(AuditEntry {
        number: row.get(0)?,
        at: row.get(1)?,
        actor: Actor {
            kind: row.get(2)?,
            id: row.get(3)?,
            label: row.get(4)?,
            address: row.get(9)?,
        },
        action: row.get(5)?,
        subject: row.get(6)?,
        details: row.get(7)?,
        method: row.get(8)?,
        digest: row.get(10)?,
        hash: row.get(11)?,
    })
}

const LAST: &str = "select number, hash from audit where user_id = $1 order by number desc limit 1";
const INSERT: &str = "insert into audit (user_id, number, at, actor, actor_id, actor_label, action,
    subject, details, method, address, digest, hash)
    values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)";
const LIST: &str = "select number, at, actor, actor_id, actor_label, action, subject, details,
    method, address, digest, hash from audit
    where user_id = $1 and number < $2 order by number desc limit $3";
const AFTER: &str = "select number, at, actor, actor_id, actor_label, action, subject, details,
    method, address, digest, hash from audit
    where user_id = $1 and number > $2 order by number limit $3";
const KEY_NAMES: &str =
    "select id, name from api_keys where user_id = $1 order by id desc limit 1000";
const APP_NAMES: &str = "select g.id, c.name from oauth_grants g
    join oauth_clients c on c.id = g.client_id where g.user_id = $1 order by g.id desc limit 1000";

pub(crate) const STATEMENTS: &[&str] = &[LAST, INSERT, LIST, AFTER, KEY_NAMES, APP_NAMES];
