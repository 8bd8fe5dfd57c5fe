//! Replaces the installation key. Everything that is encrypted or signed with it is encrypted and signed again, in one
//! transaction: access to banks and its keys, the secrets of webhook endpoints, and the anchors of hash chains.

use base::{Entropy, UserId};
use db::params;
use webhooks::rekey;
use wire::v1::Code;

use crate::ingest::connections::{self, VaultChange};
use crate::platform::installation::{self, Key};
use crate::platform::{anchors, processes};
use crate::{App, Error, Result, Tx};

/// People who are read at a time.
const BATCH: i64 = 200;

/// What was encrypted or signed again.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Rotated {
    pub secrets: usize,
    pub anchors: usize,
    /// Secrets and anchors that the old key could not open or did not sign. They stay as they are.
    pub unreadable: usize,
}

/// Replaces the key. No server may run, because one with the old key could read nothing afterwards.
pub async fn rotate(app: &App, new: &Key) -> Result<Rotated> {
    let (old, new, entropy) = (app.installation_key.clone(), new.clone(), app.entropy.clone());
    app.db.write(move |tx| rotate_in(tx, &old, &new, &entropy)).await
}

fn rotate_in(tx: &mut Tx<'_>, old: &Key, new: &Key, entropy: &Entropy) -> Result<Rotated> {
    tx.allow_long_statements()?;
    if processes::is_any_alive(tx)? {
        let message = "a server is running on this database; stop all servers first";
        return Err(Error::Conflict { code: Code::Conflict, message: message.to_owned() });
    }
    installation::replace(tx, old, new)?;
    let vaults = VaultChange::new(old, new);
    let webhook_keys = [old, new].map(|it| it.derive("webhook secrets"));
    let signers = [old, new].map(anchors::signer);
    let mut done = Rotated::default();
    let mut after = UserId::from_bytes([0; 16]);
    loop {
        let people = tx.all(PEOPLE, params![after, BATCH], |row| row.get::<UserId>(0))?;
        for user in &people {
            let banks = connections::reencrypt(tx, *user, &vaults, entropy)?;
            let endpoints = rekey::reencrypt(tx, *user, webhook_keys, entropy)?;
            let signed = anchors::sign_again(tx, *user, &signers)?;
            done.secrets += banks.0 + endpoints.0;
            done.anchors += signed.0;
            done.unreadable += banks.1 + endpoints.1 + signed.1;
        }
        match people.last() {
            Some(last) => after = *last,
            None => return Ok(done),
        }
    }
}

// Access of a person who was deleted may still wait for its provider to be told.
const PEOPLE: &str = "select id from (select id from users union
    select user_id from connection_removals) people where id > $1 order by id limit $2";

pub(crate) const STATEMENTS: &[&str] = &[PEOPLE];
