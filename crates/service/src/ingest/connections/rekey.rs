//! Encrypts access, keys and links again when the installation key is replaced.

use base::{ConnectionId, Entropy, Timestamp, UserId};
use db::{Row, Tx, params};

use super::keys::bound_to;
use super::vault::Vault;
use crate::Result;
use crate::platform::installation::Key;

/// From which key to which.
pub(crate) struct VaultChange {
    old: Vault,
    new: Vault,
}

impl VaultChange {
    pub(crate) fn new(old: &Key, new: &Key) -> VaultChange {
        VaultChange { old: Vault::new(old), new: Vault::new(new) }
    }

    /// None if the old key does not decrypt it.
    fn apply(&self, entropy: &Entropy, row: &[u8], sealed: &[u8]) -> Result<Option<Vec<u8>>> {
        let Some(plain) = self.old.decrypt(row, sealed) else { return Ok(None) };
        self.new.encrypt(entropy, row, &plain).map(Some)
    }
}

/// Encrypts a person's secrets again. Returns how many were, and how many the old key did not decrypt.
pub(crate) fn reencrypt(
    tx: &mut Tx<'_>,
    user: UserId,
    vaults: &VaultChange,
    entropy: &Entropy,
) -> Result<(usize, usize)> {
    let (mut done, mut unreadable) = (0, 0);
    let mut count = |changed: bool| if changed { done += 1 } else { unreadable += 1 };
    let access = |row: &Row<'_>| Ok((row.get::<ConnectionId>(0)?, row.get::<Vec<u8>>(1)?));
    for (id, sealed) in tx.all(ACCESS, params![user], access)? {
        let again = vaults.apply(entropy, id.as_bytes(), &sealed)?;
        count(again.is_some());
        if let Some(again) = again {
            tx.execute(SET_ACCESS, params![user, id, &again])?;
        }
    }
    let named = |row: &Row<'_>| Ok((row.get::<String>(0)?, row.get::<Vec<u8>>(1)?));
    for (source, sealed) in tx.all(KEYS, params![user], named)? {
        let again = vaults.apply(entropy, &bound_to(user, &source), &sealed)?;
        count(again.is_some());
        if let Some(again) = again {
            tx.execute(SET_KEYS, params![user, &source, &again])?;
        }
    }
    for (id, sealed) in tx.all(LINKS, params![user], named)? {
        let again = vaults.apply(entropy, id.as_bytes(), &sealed)?;
        count(again.is_some());
        if let Some(again) = again {
            tx.execute(SET_LINK, params![user, &id, &again])?;
        }
    }
    for it in tx.all(REMOVALS, params![user], Removal::read)? {
        let access = vaults.apply(entropy, it.connection.as_bytes(), &it.access)?;
        count(access.is_some());
        let bound = bound_to(user, &it.source);
        let keys = match &it.keys {
            Some(sealed) => vaults.apply(entropy, &bound, sealed)?,
            None => None,
        };
        let (access, keys) = (access.unwrap_or(it.access), keys.or(it.keys));
        let values = params![user, it.connection, it.created_at, &access, keys.as_deref()];
        tx.execute(SET_REMOVAL, values)?;
    }
    Ok((done, unreadable))
}

/// Access of which its provider has yet to be told that it ended.
struct Removal {
    connection: ConnectionId,
    created_at: Timestamp,
    source: String,
    access: Vec<u8>,
    keys: Option<Vec<u8>>,
}

impl Removal {
    fn read(row: &Row<'_>) -> db::Result<Removal> {
        Ok(Removal {
            connection: row.get(0)?,
            created_at: row.get(1)?,
            source: row.get(2)?,
            access: row.get(3)?,
            keys: row.get(4)?,
        })
    }
}

const ACCESS: &str = "select id, access from connections where user_id = $1
    and access is not null order by id limit 100000";
const SET_ACCESS: &str = "update connections set access = $3 where user_id = $1 and id = $2";
const KEYS: &str = "select source, sealed from provider_keys where user_id = $1 limit 1000";
const SET_KEYS: &str = "update provider_keys set sealed = $3 where user_id = $1 and source = $2";
const LINKS: &str =
    "select id, sealed from connection_links where user_id = $1 order by id limit 100000";
const SET_LINK: &str = "update connection_links set sealed = $3 where user_id = $1 and id = $2";
const REMOVALS: &str = "select connection_id, created_at, source, access, keys
    from connection_removals where user_id = $1 order by connection_id limit 100000";
const SET_REMOVAL: &str = "update connection_removals set access = $4, keys = $5
    where user_id = $1 and connection_id = $2 and created_at = $3";

pub(super) const STATEMENTS: &[&str] =
    &[ACCESS, SET_ACCESS, KEYS, SET_KEYS, LINKS, SET_LINK, REMOVALS, SET_REMOVAL];
