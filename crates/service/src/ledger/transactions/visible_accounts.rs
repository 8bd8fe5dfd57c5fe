//! The accounts whose transactions a caller sees, and what all rows of an account share.
//!
//! The accounts of a person are kept in memory with the stamp of the person's transactions (`ledger::stamps`). Whatever rows
//! show of an account changes only together with that stamp, so a page that finds the same stamp may use what is kept. That
//! saves the most frequent read of the product one of its two statements.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use base::{AccountId, Currency, UserId};
use db::params;
use wire::v1::AccountPart;

use super::Filter;
use crate::{App, Caller, Error, Result};

/// The most accounts that are kept over all people, some 5 MB. With more, all are dropped.
const KEPT_ACCOUNTS_MAX: usize = 20_000;

/// An account with the values that all its transactions show.
pub(super) struct ListedAccount {
    pub(super) id: AccountId,
    pub(super) part: AccountPart,
    pub(super) currency: Currency,
    pub(super) transaction_count: i64,
    is_hidden: bool,
}

/// All accounts of a person, and the stamp of the person's transactions when they were read.
pub(super) struct PersonAccounts {
    pub(super) stamp: i64,
    accounts: Vec<ListedAccount>,
}

impl PersonAccounts {
    /// Reads the accounts with the stamp in one statement, and keeps them.
    pub(super) async fn load(app: &App, user: UserId) -> Result<Arc<PersonAccounts>> {
        let (mut stamp, mut accounts) = (None, Vec::new());
        let add = |row: &db::Row<'_>| {
            stamp = Some(row.get(5)?);
            accounts.extend(ListedAccount::read(row)?);
            Ok(())
        };
        app.db.each(ACCOUNTS, params![user], add).await?;
        let Some(stamp) = stamp else { return Err(Error::NotFound("user")) };
        let accounts = Arc::new(PersonAccounts { stamp, accounts });
        app.kept_accounts.insert(user, &accounts);
        Ok(accounts)
    }

    pub(super) fn new(stamp: i64, accounts: Vec<ListedAccount>) -> PersonAccounts {
        PersonAccounts { stamp, accounts }
    }
}

impl ListedAccount {
    /// Reads the first columns of `ACCOUNTS`; none for a person without accounts.
    pub(super) fn read(row: &db::Row<'_>) -> db::Result<Option<ListedAccount>> {
        let Some(id) = row.get::<Option<AccountId>>(0)? else { return Ok(None) };
        Ok(Some(ListedAccount {
            id,
            part: AccountPart::new(&id.to_string(), row.get(1)?),
            currency: row.get(4)?,
            transaction_count: row.get(3)?,
            is_hidden: row.get::<Option<i64>>(2)?.is_some(),
        }))
    }
}

/// The accounts that this process keeps.
#[derive(Default)]
pub(crate) struct KeptAccounts(Mutex<Kept>);

#[derive(Default)]
struct Kept {
    people: HashMap<UserId, Arc<PersonAccounts>>,
    accounts: usize,
}

impl KeptAccounts {
    /// The accounts of a person, which may be outdated: their stamp must be compared.
    pub(super) fn find(&self, user: UserId) -> Option<Arc<PersonAccounts>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).people.get(&user).cloned()
    }

    fn insert(&self, user: UserId, new: &Arc<PersonAccounts>) {
        // A person without accounts takes memory too.
        let size = |it: &PersonAccounts| it.accounts.len() + 1;
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.accounts + size(new) > KEPT_ACCOUNTS_MAX {
            *kept = Kept::default();
        }
        kept.accounts += size(new);
        if let Some(old) = kept.people.insert(user, Arc::clone(new)) {
            kept.accounts -= size(&old);
        }
    }
}

/// The accounts whose transactions the caller sees.
pub(super) struct VisibleAccounts {
    of_person: Arc<PersonAccounts>,
    /// For each account of the person, whether it is visible.
    visible: Vec<bool>,
    /// Whether the caller does not see some of the person's accounts, so that the statement must leave out their rows.
    pub(super) narrowed: bool,
}

impl VisibleAccounts {
    /// The accounts that the caller may see, without hidden ones except the one that the filter names.
    pub(super) fn in_list(
        of_person: Arc<PersonAccounts>,
        caller: &Caller,
        filter: &Filter,
    ) -> Result<VisibleAccounts> {
        let named = filter.account_id;
        let visible = VisibleAccounts::select(of_person, caller, |id, is_hidden| {
            !is_hidden || named == Some(id)
        });
        match named {
            Some(id) if visible.find(id).is_none() => Err(Error::NotFound("account")),
            _ => Ok(visible),
        }
    }

    /// The accounts that the caller may see and that `is_shown`, which gets whether the person has hidden them.
    pub(super) fn select(
        of_person: Arc<PersonAccounts>,
        caller: &Caller,
        is_shown: impl Fn(AccountId, bool) -> bool,
    ) -> VisibleAccounts {
        let is_visible =
            |it: &ListedAccount| caller.may_see(it.id) && is_shown(it.id, it.is_hidden);
        let visible: Vec<bool> = of_person.accounts.iter().map(is_visible).collect();
        let narrowed = visible.contains(&false);
        VisibleAccounts { of_person, visible, narrowed }
    }

    /// The stamp of the person's transactions when the accounts were read.
    pub(super) fn stamp(&self) -> i64 {
        self.of_person.stamp
    }

    pub(super) fn find(&self, id: AccountId) -> Option<&ListedAccount> {
        self.iter().find(|it| it.id == id)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &ListedAccount> {
        let all = self.of_person.accounts.iter().zip(&self.visible);
        all.filter(|(_, is_visible)| **is_visible).map(|(account, _)| account)
    }
}

/// The visible accounts, read anew.
pub(super) async fn visible_accounts(
    app: &App,
    caller: &Caller,
    filter: &Filter,
) -> Result<VisibleAccounts> {
    let of_person = PersonAccounts::load(app, caller.user).await?;
    VisibleAccounts::in_list(of_person, caller, filter)
}

/// One row without an account for a person who has none.
const ACCOUNTS: &str =
    "select a.id, coalesce(a.own_name, a.name), a.hidden_at, a.transaction_count, a.currency,
    p.transactions_stamp
    from person_states p left join accounts a on a.user_id = p.user_id where p.user_id = $1";

pub(super) const STATEMENTS: &[&str] = &[ACCOUNTS];
