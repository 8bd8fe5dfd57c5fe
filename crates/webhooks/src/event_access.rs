//! The events that a key may see: by its scopes, and by the accounts that it is limited to.

use base::{AccountId, KeyId, UserId};
use db::{Db, Tx, params};
use wire::v1::{EventType, Scope, Scopes};

use crate::endpoint::EndpointOwner;
use crate::error::Result;
use crate::payload::EventPayload;

/// The events that a key may see. A key that was revoked or has expired sees none.
pub(crate) struct KeyAccess {
    key: KeyId,
    scopes: Scopes,
    /// The accounts that it is limited to.
    accounts: Option<Vec<AccountId>>,
}

impl KeyAccess {
    /// The access of an owner's key; none for the person, who sees everything.
    pub(crate) async fn find(db: &Db, owner: &EndpointOwner) -> Result<Option<KeyAccess>> {
        let Some(key) = owner.key else { return Ok(None) };
        let values = params![owner.user, key];
        let (is_limited, scopes) = db.first(KEY, values, read).await?.unwrap_or_default();
        let accounts = match is_limited {
            true => Some(db.all(ACCOUNTS, values, |row| row.get(0)).await?),
            false => None,
        };
        Ok(Some(KeyAccess { key, scopes: parse_scopes(&scopes), accounts }))
    }

    /// The access of a key. A key that does not exist sees nothing.
    pub(crate) fn get_in(tx: &mut Tx<'_>, user: UserId, key: KeyId) -> Result<KeyAccess> {
        let (is_limited, scopes) = tx.first(KEY, params![user, key], read)?.unwrap_or_default();
        let accounts = if is_limited { Some(accounts_in(tx, user, key)?) } else { None };
        Ok(KeyAccess { key, scopes: parse_scopes(&scopes), accounts })
    }

    /// Whether the key may see an event, apart from what was sent to its endpoints. An event about webhooks is seen only
    /// by the key that it is for.
    pub(crate) fn allows(&self, event: &EventPayload) -> bool {
        if event.key.is_some() {
            return event.key == Some(self.key);
        }
        let found = EventType::find(&event.event_type).filter(|it| it.scope.is_some());
        let account = || account_of(event.data.as_deref()?);
        found.is_some_and(|it| may_see(it, self.scopes, self.accounts.as_ref(), account))
    }
}

/// Whether a key may see events of a type: it has the type's scope, and if it is limited to some accounts, the event is
/// about one of them.
pub(crate) fn may_see(
    event_type: EventType,
    scopes: Scopes,
    accounts: Option<&Vec<AccountId>>,
    account: impl FnOnce() -> Option<AccountId>,
) -> bool {
    event_type.scope.is_none_or(|it| scopes.has(it))
        && accounts.is_none_or(|all| account().is_some_and(|it| all.contains(&it)))
}

/// The accounts that a key is limited to.
pub(crate) fn accounts_in(tx: &mut Tx<'_>, user: UserId, key: KeyId) -> Result<Vec<AccountId>> {
    Ok(tx.all(ACCOUNTS, params![user, key], |row| row.get(0))?)
}

/// The scopes of a key as they are stored. An unknown scope grants nothing.
pub(crate) fn parse_scopes(stored: &str) -> Scopes {
    stored.split(' ').filter_map(Scope::parse).collect()
}

/// The account that the data of an event is about.
fn account_of(data: &str) -> Option<AccountId> {
    let facts: serde_json::Value = serde_json::from_str(data).ok()?;
    AccountId::parse(facts["account_id"].as_str()?).ok()
}

fn read(row: &db::Row<'_>) -> db::Result<(bool, String)> {
    let limited_at: Option<i64> = row.get(0)?;
    Ok((limited_at.is_some(), row.get(1)?))
}

const KEY: &str = "select limited_at, scopes from api_keys where user_id = $1 and id = $2";
const ACCOUNTS: &str = "select account_id from api_key_accounts
    where user_id = $1 and key_id = $2 order by account_id limit 10000";

pub(crate) const STATEMENTS: &[&str] = &[KEY, ACCOUNTS];
