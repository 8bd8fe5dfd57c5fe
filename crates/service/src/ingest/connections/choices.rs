//! What the person wants of the accounts that a connection offers.

use base::draft::AccountKind;
use base::{AccountId, ConnectionId, Currency, UserId};
use db::{Tx, params};

use super::attention::are_alike;
use super::{OfferStatus, Owed, alive, conflict, lock};
use crate::platform::audit::{self, Note};
use crate::{App, Caller, Error, Result};

/// What to do with one account, by the name that `offered` gives it.
#[derive(Debug, Clone)]
pub struct Choice {
    pub external_id: String,
    pub selection: Selection,
}

#[derive(Debug, Clone)]
pub enum Selection {
    /// Keep it up to date, as an account of its own.
    Add(AddAccount),
    /// Keep it up to date in an account that is already there, in the same currency. What both know is one.
    MergeInto { account: AccountId, owed: Owed },
    /// Bring nothing of it. What was brought before stays.
    Skip,
}

#[derive(Debug, Clone)]
pub struct AddAccount {
    pub kind: AccountKind,
    pub subtype: Option<String>,
    /// The person's own name for it; without one, the bank's.
    pub name: Option<String>,
    /// The sign of what is owed, on a card or a loan.
    pub owed: Owed,
}

/// Settles what becomes of the accounts that are named; the others stay as they are. What was taken is synced by the
/// background step within a minute, or at once by `sync`.
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
        lock(tx, user)?;
        let name = alive(tx, user, connection)?;
        let chooser = Chooser { user, connection };
        let mut taken = 0;
        for choice in &choices {
            taken += usize::from(chooser.apply(tx, choice)?);
        }
        if taken > 0 {
            tx.execute(DUE, params![user, connection, now])?;
        }
        let left = choices.len() - taken;
        let details = format!("Chose accounts of {name}: {taken} taken, {left} left");
        let note = Note::new(&caller, "connection.choose", details).about(connection);
        audit::note(tx, user, now, note)
    };
    app.db.write(work).await
}

struct Chooser {
    user: UserId,
    connection: ConnectionId,
}

impl Chooser {
    /// Says whether it is taken.
    fn apply(&self, tx: &mut Tx<'_>, choice: &Choice) -> Result<bool> {
        let external_id = choice.external_id.as_str();
        let key = params![self.user, self.connection, external_id];
        let found = tx.first(OFFER, key, |row| {
            Ok((row.get::<String>(0)?, row.get::<String>(1)?, row.get::<Option<String>>(2)?))
        })?;
        let unknown = || {
            let message = format!("this connection offers no account {external_id}");
            Error::invalid("external_id", message)
        };
        let (currency, answer, reason) = found.ok_or_else(unknown)?;
        if OfferStatus::parse(&answer) == Some(OfferStatus::Unsupported) {
            let reason = reason.unwrap_or_else(|| "This account cannot be added.".to_owned());
            return Err(Error::invalid("external_id", reason));
        }
        match &choice.selection {
            Selection::Skip => {
                tx.execute(LEAVE, key)?;
                return Ok(false);
            }
            Selection::Add(take) => self.take(tx, external_id, take)?,
            Selection::MergeInto { account, owed } => {
                self.put_into(tx, external_id, &currency, *account, *owed)?;
            }
        }
        Ok(true)
    }

    fn take(&self, tx: &mut Tx<'_>, external_id: &str, take: &AddAccount) -> Result<()> {
        let subtype = short("subtype", take.subtype.as_deref(), 40)?;
        let name = short("name", take.name.as_deref(), 80)?;
        // One that was brought before goes on where it is, and is what it is.
        let before = self.before(tx, external_id)?;
        let kind = match before {
            Some((_, kind)) if !are_alike(kind, take.kind) => {
                let message = format!(
                    "this account was taken as {} before and stays that; leave kind as it is",
                    kind.as_str()
                );
                return Err(Error::invalid("kind", message));
            }
            _ => take.kind.as_str(),
        };
        let account = before.map(|(id, _)| id);
        let (owed, key) = (take.owed.as_str(), (self.user, self.connection));
        let values = params![key.0, key.1, external_id, kind, &subtype, owed, &name, account];
        tx.execute(TAKE, values)?;
        Ok(())
    }

    fn put_into(
        &self,
        tx: &mut Tx<'_>,
        external_id: &str,
        currency: &str,
        account: AccountId,
        owed: Owed,
    ) -> Result<()> {
        let found = tx.first(ACCOUNT, params![self.user, account], |row| {
            let found: (Currency, String) = (row.get(0)?, row.get(1)?);
            Ok((found.0, found.1, row.get::<Option<String>>(2)?))
        })?;
        let (own, kind, subtype) = found.ok_or(Error::NotFound("account"))?;
        if own.code() != currency {
            let message = format!(
                "the account is kept in {own}, and what is offered is in {currency}; take it as an \
                 account of its own"
            );
            return Err(Error::invalid("account", message));
        }
        if self.before(tx, external_id)?.is_some_and(|(id, _)| id != account) {
            return Err(conflict(
                "What is offered here was brought before, into an account of its own. Take that \
                 import back first, so that nothing is there twice.",
            ));
        }
        // An account has one source that is asked; another that was put into it lets go.
        tx.execute(LET_GO, params![self.user, self.connection, external_id, account])?;
        let (user, connection) = (self.user, self.connection);
        let (owed, no_name) = (owed.as_str(), None::<&str>);
        let values =
            params![user, connection, external_id, &kind, &subtype, owed, no_name, Some(account)];
        tx.execute(TAKE, values)?;
        Ok(())
    }

    /// The account that this one was brought into under its own name.
    fn before(
        &self,
        tx: &mut Tx<'_>,
        external_id: &str,
    ) -> Result<Option<(AccountId, AccountKind)>> {
        let key = params![self.user, self.connection, external_id];
        Ok(tx.first(BEFORE, key, |row| {
            let kind: &str = row.get(1)?;
            let unknown = || db::Error::Decode { column: 1, reason: format!("unknown {kind}") };
            Ok((row.get(0)?, AccountKind::parse(kind).ok_or_else(unknown)?))
        })?)
    }
}

fn short(param: &str, text: Option<&str>, most: usize) -> Result<Option<String>> {
    let text = text.map(str::trim).filter(|it| !it.is_empty());
    if text.is_some_and(|it| it.chars().count() > most || it.contains(char::is_control)) {
        let message = format!("{param} must have at most {most} characters on one line");
        return Err(Error::invalid(param, message));
    }
    Ok(text.map(str::to_owned))
}

const OFFER: &str = "select currency, choice, reason from offered_accounts
    where user_id = $1 and connection_id = $2 and external_id = $3";
const LEAVE: &str = "update offered_accounts set choice = 'left'
    where user_id = $1 and connection_id = $2 and external_id = $3";
const TAKE: &str = "update offered_accounts set choice = 'taken', kind = $4, subtype = $5,
    owed = $6, own_name = $7, account_id = $8,
    good_at = case when account_id = $8 then good_at else null end
    where user_id = $1 and connection_id = $2 and external_id = $3";
const ACCOUNT: &str = "select currency, kind, subtype from accounts where user_id = $1 and id = $2";
const BEFORE: &str = "select id, kind from accounts
    where user_id = $1 and connection_id = $2 and external_id = $3";
const LET_GO: &str = "update offered_accounts set choice = 'left', account_id = null
    where user_id = $1 and account_id = $4 and not (connection_id = $2 and external_id = $3)";
const DUE: &str = "update connections set next_sync_at = $3
    where user_id = $1 and id = $2 and access is not null";

pub(super) const STATEMENTS: &[&str] = &[OFFER, LEAVE, TAKE, ACCOUNT, BEFORE, LET_GO, DUE];
