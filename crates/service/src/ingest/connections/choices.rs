//! The person's choice of which offered accounts to sync, and into which accounts.

use base::draft::AccountKind;
use base::{AccountId, ConnectionId, Currency, UserId};
use db::{Tx, params};

use super::OwedSign;
use super::connection::{active, conflict, lock_user};
use super::offers::OfferStatus;
use crate::platform::audit::{self, Note};
use crate::{App, Caller, Error, Result};

/// The choice for one account, by the external id that `list_offers` returns.
#[derive(Debug, Clone)]
pub struct Choice {
    pub external_id: String,
    pub selection: Selection,
}

#[derive(Debug, Clone)]
pub enum Selection {
    /// Sync it as a new account.
    Add(AddAccount),
    /// Sync it into an existing account of the same currency. Transactions that both have are matched.
    MergeInto { account: AccountId, owed: OwedSign },
    /// Don't sync it. Transactions that were imported before stay.
    Skip,
}

#[derive(Debug, Clone)]
pub struct AddAccount {
    pub kind: AccountKind,
    pub subtype: Option<String>,
    /// The person's name for it; the bank's name if there is none.
    pub name: Option<String>,
    /// The sign that the bank gives to a balance that is owed, on a card or a loan.
    pub owed: OwedSign,
}

/// Applies choices; accounts without one stay as they are. The background loop of this process syncs added accounts at
/// once; if there is none, `sync` does so.
pub async fn choose(
    app: &App,
    caller: &Caller,
    connection: ConnectionId,
    choices: Vec<Choice>,
) -> Result<()> {
    caller.require_owner("connection")?;
    let (caller, now) = (caller.clone(), app.clock.now());
    let work = move |tx: &mut Tx<'_>| {
        let user = caller.user;
        lock_user(tx, user)?;
        let name = active(tx, user, connection)?.name;
        let chooser = Chooser { user, connection };
        let mut added = 0;
        for choice in &choices {
            added += usize::from(chooser.apply(tx, choice)?);
        }
        if added > 0 {
            let due_at = tx.now()?;
            tx.execute(DUE, params![user, connection, due_at])?;
        }
        let skipped = choices.len() - added;
        let details = format!("Chose accounts of {name}: {added} added, {skipped} skipped");
        let note = Note::new(&caller, "connection.choose", details).about(connection);
        audit::note(tx, user, now, note)
    };
    app.db.write(work).await?;
    app.bank_client.sync_queued.notify_one();
    Ok(())
}

struct Chooser {
    user: UserId,
    connection: ConnectionId,
}

impl Chooser {
    /// Applies one choice, and returns whether the account is now synced.
    fn apply(&self, tx: &mut Tx<'_>, choice: &Choice) -> Result<bool> {
        let external_id = choice.external_id.as_str();
        let key = params![self.user, self.connection, external_id];
        let found = tx.first(OFFER, key, |row| {
            Ok((row.get::<String>(0)?, row.get::<OfferStatus>(1)?, row.get::<Option<String>>(2)?))
        })?;
        let unknown = || {
            let message = format!("This connection doesn't offer the account {external_id}.");
            Error::invalid("external_id", message)
        };
        let (currency, status, reason) = found.ok_or_else(unknown)?;
        if status == OfferStatus::Unsupported {
            let reason = reason.unwrap_or_else(|| "This account can't be added.".to_owned());
            return Err(Error::invalid("external_id", reason));
        }
        match &choice.selection {
            Selection::Skip => {
                tx.execute(SKIP, key)?;
                return Ok(false);
            }
            Selection::Add(new) => self.add(tx, external_id, new)?,
            Selection::MergeInto { account, owed } => {
                self.merge_into(tx, external_id, &currency, *account, *owed)?;
            }
        }
        Ok(true)
    }

    fn add(&self, tx: &mut Tx<'_>, external_id: &str, new: &AddAccount) -> Result<()> {
        let subtype = short_text("subtype", new.subtype.as_deref(), 40)?;
        let name = short_text("name", new.name.as_deref(), 80)?;
        // An account that was synced before continues in the same account, and keeps its kind.
        let before = self.previous_account(tx, external_id)?;
        let kind = match before {
            Some((_, kind)) if kind.is_debt() != new.kind.is_debt() => {
                let message = format!(
                    "This account was added as {} before. Leave its kind as it is.",
                    kind.as_str()
                );
                return Err(Error::invalid("kind", message));
            }
            _ => new.kind.as_str(),
        };
        let account = before.map(|(id, _)| id);
        let (owed, key) = (new.owed.as_str(), (self.user, self.connection));
        let values = params![key.0, key.1, external_id, kind, &subtype, owed, &name, account];
        tx.execute(ADD, values)?;
        Ok(())
    }

    fn merge_into(
        &self,
        tx: &mut Tx<'_>,
        external_id: &str,
        currency: &str,
        account: AccountId,
        owed: OwedSign,
    ) -> Result<()> {
        let found = tx.first(ACCOUNT, params![self.user, account], |row| {
            let found: (Currency, String) = (row.get(0)?, row.get(1)?);
            Ok((found.0, found.1, row.get::<Option<String>>(2)?))
        })?;
        let (own, kind, subtype) = found.ok_or(Error::NotFound("account"))?;
        if own.code() != currency {
            let message = format!(
                "Your account is in {own}, but this one is in {currency}. Add it as a new account \
                 instead."
            );
            return Err(Error::invalid("account", message));
        }
        if self.previous_account(tx, external_id)?.is_some_and(|(id, _)| id != account) {
            return Err(conflict(
                "This account was already added as an account of its own. Undo that import first, so \
                 that no transaction is counted twice.",
            ));
        }
        // An account is synced from one offered account only: one merged into it before is skipped from now on.
        tx.execute(UNLINK, params![self.user, self.connection, external_id, account])?;
        let (user, connection) = (self.user, self.connection);
        let (owed, no_name) = (owed.as_str(), None::<&str>);
        let values =
            params![user, connection, external_id, &kind, &subtype, owed, no_name, Some(account)];
        tx.execute(ADD, values)?;
        Ok(())
    }

    /// The account that an earlier sync created for this one.
    fn previous_account(
        &self,
        tx: &mut Tx<'_>,
        external_id: &str,
    ) -> Result<Option<(AccountId, AccountKind)>> {
        let key = params![self.user, self.connection, external_id];
        Ok(tx.first(PREVIOUS, key, |row| Ok((row.get(0)?, row.get(1)?)))?)
    }
}

fn short_text(param: &str, text: Option<&str>, most: usize) -> Result<Option<String>> {
    let text = text.map(str::trim).filter(|it| !it.is_empty());
    if text.is_some_and(|it| it.chars().count() > most || it.contains(char::is_control)) {
        let message = format!("{param} must have at most {most} characters on one line.");
        return Err(Error::invalid(param, message));
    }
    Ok(text.map(str::to_owned))
}

const OFFER: &str = "select currency, choice, reason from offered_accounts
    where user_id = $1 and connection_id = $2 and external_id = $3";
const SKIP: &str = "update offered_accounts set choice = 'left'
    where user_id = $1 and connection_id = $2 and external_id = $3";
const ADD: &str = "update offered_accounts set choice = 'taken', kind = $4, subtype = $5,
    owed = $6, own_name = $7, account_id = $8,
    good_at = case when account_id = $8 then good_at else null end
    where user_id = $1 and connection_id = $2 and external_id = $3";
const ACCOUNT: &str = "select currency, kind, subtype from accounts where user_id = $1 and id = $2";
const PREVIOUS: &str = "select id, kind from accounts
    where user_id = $1 and connection_id = $2 and external_id = $3";
const UNLINK: &str = "update offered_accounts set choice = 'left', account_id = null
    where user_id = $1 and account_id = $4 and not (connection_id = $2 and external_id = $3)";
const DUE: &str = "update connections set next_sync_at = $3
    where user_id = $1 and id = $2 and access is not null";

pub(super) const STATEMENTS: &[&str] = &[OFFER, SKIP, ADD, ACCOUNT, PREVIOUS, UNLINK, DUE];
