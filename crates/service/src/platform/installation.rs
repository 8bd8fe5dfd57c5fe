//! The installation key, from which the keys for cursors, anchors and stored secrets are derived.

use base::Entropy;
use db::{Db, Tx, params};
use sha2::{Digest as _, Sha256};

use crate::{Error, Result};

/// 32 secret bytes. The type has no `Debug`, so that it is never logged.
#[derive(Clone)]
pub struct Key([u8; 32]);

impl Key {
    pub fn generate(entropy: &Entropy) -> Key {
        Key(entropy.bytes())
    }

    pub fn parse(text: &str) -> Option<Key> {
        let text = text.trim();
        let digit = |at: usize| u8::from_str_radix(text.get(at..at + 2)?, 16).ok();
        let bytes: Option<Vec<u8>> = (0..32).map(|it| digit(it * 2)).collect();
        (text.len() == 64).then_some(Key(bytes?.try_into().ok()?))
    }

    pub fn to_hex(&self) -> String {
        self.0.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// Derives a key for one purpose, so that data encrypted for one purpose cannot be read for another.
    pub fn derive(&self, purpose: &str) -> [u8; 32] {
        let mut hash = Sha256::new();
        hash.update(b"evenkeel ");
        hash.update(purpose.as_bytes());
        hash.update([0]);
        hash.update(self.0);
        hash.finalize().into()
    }

    /// Tells keys apart, without revealing them.
    fn fingerprint(&self) -> String {
        self.derive("fingerprint")[..8].iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

/// Binds the database to the key at first use, and refuses another key afterwards. Processes with different keys could not
/// read each other's cursors and secrets.
pub async fn claim(db: &Db, key: &Key) -> Result<()> {
    let fingerprint = key.fingerprint();
    db.write(move |tx| {
        tx.execute(INSERT_FINGERPRINT, params![fingerprint.as_str()])?;
        let stored: Option<String> = tx.first(FINGERPRINT, &[], |row| row.get(0))?;
        if stored.as_deref() == Some(fingerprint.as_str()) {
            return Ok(());
        }
        Err(Error::Invalid {
            param: Some("installation_key".to_owned()),
            message: "this database belongs to an installation with another key; copy the file \
                      installation.key from the installation that created it, or set installation_key"
                .to_owned(),
        })
    })
    .await
}

/// Whether the database is bound to this key.
pub async fn is_bound_to(db: &Db, key: &Key) -> Result<bool> {
    let stored = db.first(FINGERPRINT, &[], |row| row.get::<String>(0)).await?;
    Ok(stored == Some(key.fingerprint()))
}

/// Binds the database to another key, in the transaction that encrypts everything again.
pub(crate) fn replace(tx: &mut Tx<'_>, old: &Key, new: &Key) -> Result<()> {
    let (old, new) = (old.fingerprint(), new.fingerprint());
    tx.execute(INSERT_FINGERPRINT, params![old.as_str()])?;
    if tx.execute(REPLACE_FINGERPRINT, params![old.as_str(), new.as_str()])? == 0 {
        return Err(Error::internal("the database belongs to an installation with another key"));
    }
    Ok(())
}

const INSERT_FINGERPRINT: &str =
    "insert into installation (name, value) values ('key_fingerprint', $1)
    on conflict (name) do nothing";
const FINGERPRINT: &str = "select value from installation where name = 'key_fingerprint'";

const REPLACE_FINGERPRINT: &str =
    "update installation set value = $2 where name = 'key_fingerprint' and value = $1";

pub(crate) const STATEMENTS: &[&str] = &[INSERT_FINGERPRINT, FINGERPRINT, REPLACE_FINGERPRINT];
