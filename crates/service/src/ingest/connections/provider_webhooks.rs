//! Webhooks of providers. A webhook is verified, and then only says that a connection is due: the sync that follows reads
//! everything from the provider itself.

use base::UserId;
use base::draft::Source;
use db::{Tx, params};
use sources::provider::{NewsKind, Provider};

use super::connection::provider_of;
use super::keys;
use crate::{App, Error, Result};

/// Receives a webhook, and returns whether it was signed by the provider for a connection of this installation.
pub async fn receive_webhook(
    app: &App,
    source: Source,
    signature: &str,
    body: &[u8],
) -> Result<bool> {
    let provider = provider_of(source)?;
    let Some(key_id) = provider.webhook_key_id(signature) else { return Ok(false) };
    // Not verified yet: it only selects whose keys are used to fetch the provider's public key.
    let Some(login) = provider.webhook_login(body) else { return Ok(false) };
    let values = params![source.as_str(), &login];
    let owner = app.db.first(OWNER, values, |row| row.get::<UserId>(0)).await?;
    let Some(owner) = owner else { return Ok(false) };
    let Some(key) = public_key(app, owner, provider, &key_id).await? else { return Ok(false) };
    let Ok(news) = provider.read_webhook(&key, signature, body, app.clock.now()) else {
        return Ok(false);
    };
    if news.kind == NewsKind::SyncNow {
        let make_due = move |tx: &mut Tx<'_>| {
            let now = tx.now()?;
            tx.execute(DUE, params![source.as_str(), &news.login, now])?;
            Ok::<_, Error>(())
        };
        app.db.write(make_due).await?;
        app.bank_client.sync_queued.notify_one();
    }
    Ok(true)
}

/// The provider's public key, from memory or from the provider.
async fn public_key(
    app: &App,
    owner: UserId,
    provider: &dyn Provider,
    key_id: &str,
) -> Result<Option<String>> {
    let (source, now) = (provider.source(), app.clock.now());
    let known = &app.bank_client.webhook_keys;
    if let Some(key) = known.find(source, key_id, now) {
        return Ok(Some(key));
    }
    if !known.may_fetch(source, now) {
        return Ok(None);
    }
    let context = keys::context(app, owner, provider).await?;
    match provider.webhook_key(&context, key_id).await {
        Ok(key) => {
            known.save(source, key_id, &key, now);
            Ok(Some(key))
        }
        Err(error) => {
            tracing::warn!(source = source.as_str(), %error, "a webhook's key could not be fetched");
            Ok(None)
        }
    }
}

const OWNER: &str = "select user_id from connections
    where login_id = $2 and source = $1 and access is not null limit 1";
// A connection without chosen accounts has no next sync, and stays so.
const DUE: &str = "update connections set next_sync_at = $3
    where login_id = $2 and source = $1 and access is not null and next_sync_at > $3";

pub(super) const STATEMENTS: &[&str] = &[OWNER, DUE];
