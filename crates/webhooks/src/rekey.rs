//! Encrypts the signing secrets of endpoints again when the installation key is replaced.

use base::{EndpointId, Entropy, UserId};
use db::{Row, Tx, params};

use crate::error::Result;
use crate::secrets::SecretCipher;

/// Encrypts the secrets of a person's endpoints, which were encrypted with the first key, with the second one. Returns
/// how many were, and how many the first key did not decrypt.
pub fn reencrypt(
    tx: &mut Tx<'_>,
    user: UserId,
    keys: [[u8; 32]; 2],
    entropy: &Entropy,
) -> Result<(usize, usize)> {
    let [old, new] = keys.map(SecretCipher::new);
    let read = |row: &Row<'_>| {
        let id: EndpointId = row.get(0)?;
        Ok((id, row.get::<Vec<u8>>(1)?, row.get::<Option<Vec<u8>>>(2)?))
    };
    let (mut done, mut unreadable) = (0, 0);
    for (id, secret, previous) in tx.all(SECRETS, params![user], read)? {
        let again = old.reencrypt(&new, entropy, id, &secret);
        let previous = previous.map(|it| old.reencrypt(&new, entropy, id, &it)).transpose();
        let (Ok(again), Ok(previous)) = (again, previous) else {
            unreadable += 1;
            continue;
        };
        tx.execute(SET_SECRETS, params![user, id, &again, previous.as_deref()])?;
        done += 1;
    }
    Ok((done, unreadable))
}

const SECRETS: &str = "select id, secret, previous_secret from webhook_endpoints where user_id = $1
    order by id limit 100000";
const SET_SECRETS: &str = "update webhook_endpoints set secret = $3, previous_secret = $4
    where user_id = $1 and id = $2";

pub(crate) const STATEMENTS: &[&str] = &[SECRETS, SET_SECRETS];
