//! One person's turn: what is to be looked at, what has been found, and the order of the steps.

use std::collections::{BTreeMap, BTreeSet};

use base::{AccountId, Currency, Date, Timestamp, TransactionId, UserId};
use calc::rates::Rates;
use db::{Tx, params};
use wire::v1::Event;

use super::ledger::ledger_of_pages;
use super::{METHOD, Touch, pages};
use crate::accounts::Account;
use crate::{
    App, Error, Result, accounts, benefits, enrichment, income, outbox, rates, recurring, scores,
};

/// What a turn looks at.
#[derive(Debug, Clone)]
pub(crate) enum Scope {
    Everything,
    Around(BTreeSet<Touch>),
}

pub(crate) struct Run {
    pub(crate) app: App,
    pub(crate) user: UserId,
    pub(crate) now: Timestamp,
    pub(crate) today: Date,
    pub(crate) currency: Currency,
    pub(crate) rates: Rates,
    /// All of the person's, hidden and closed ones too: money moved to a hidden account is not spent.
    pub(crate) accounts: Vec<Account>,
    pub(crate) scope: Scope,
    /// Transactions that the person just spoke of, to be judged again also where nothing else bears on them.
    pub(crate) spoken_of: BTreeSet<TransactionId>,
    pub(crate) events: Vec<Event>,
    /// Transactions that now read differently.
    pub(crate) updated: BTreeMap<AccountId, Vec<TransactionId>>,
    /// Transactions that are no longer to be seen.
    pub(crate) hidden: BTreeMap<AccountId, Vec<TransactionId>>,
}

pub(super) fn bring_up_to_date(tx: &mut Tx<'_>, app: &App, user: UserId) -> Result<()> {
    // Touching the person's row makes imports and other processes wait their turn on PostgreSQL too.
    if tx.execute(LOCK, params![user])? == 0 {
        return Ok(());
    }
    let Some((scope, asked)) = wanted(tx, app, user)? else { return Ok(()) };
    let mut run = Run::new(tx, app, user, scope)?;
    enrichment::settle(tx, &mut run)?;
    recurring::find(tx, &mut run)?;
    pages::renew(tx, &run)?;
    let ledger = ledger_of_pages(tx, &run.household(None))?;
    let income = income::save(tx, &mut run, &ledger)?;
    let missing = scores::save(tx, &mut run, &ledger, &income)?;
    benefits::save(tx, &mut run)?;
    run.finish(tx, asked, missing.as_deref())
}

/// Looks again, at once, at what the given transactions are and whom they move money to, so that the person sees what
/// their word changed. What follows from it comes with the work that is asked for beside.
pub(crate) fn settle_around(
    tx: &mut Tx<'_>,
    app: &App,
    user: UserId,
    transactions: &[TransactionId],
) -> Result<()> {
    tx.execute(LOCK, params![user])?;
    let mut touched = BTreeSet::new();
    for id in transactions {
        let touch = |row: &db::Row<'_>| {
            let merchant_key: Option<String> = row.get(1)?;
            Ok(Touch {
                account: row.get(0)?,
                merchant_key: merchant_key.unwrap_or_default(),
                posted_on_days: row.get(2)?,
                amount_minor: row.get(3)?,
            })
        };
        touched.extend(tx.first(TOUCHED, params![user, *id], touch)?);
    }
    let mut run = Run::new(tx, app, user, Scope::Around(touched))?;
    run.spoken_of = transactions.iter().copied().collect();
    enrichment::settle(tx, &mut run)?;
    run.tell(tx)
}

/// What there is to do, and how often it was asked for; nothing when another process has just done it.
fn wanted(tx: &mut Tx<'_>, app: &App, user: UserId) -> Result<Option<(Scope, i64)>> {
    let work =
        tx.first(WORK, params![user], |row| Ok((row.get::<Option<i64>>(0)?, row.get::<i64>(1)?)))?;
    let Some((everything_at, asked)) = work else { return Ok(None) };
    let done = tx.first(DONE, params![user, *METHOD], |row| row.get::<i64>(0))?;
    let today = base::days_from_date(app.clock.today());
    if everything_at.is_some() || done != Some(today) {
        return Ok(Some((Scope::Everything, asked)));
    }
    let touched = tx.all(CHANGES, params![user], |row| {
        Ok(Touch {
            account: row.get(0)?,
            merchant_key: row.get(1)?,
            posted_on_days: row.get(2)?,
            amount_minor: row.get(3)?,
        })
    })?;
    Ok(Some((Scope::Around(touched.into_iter().collect()), asked)))
}

/// Whose figures, over which accounts: what the analyses need to know of a person.
pub(crate) struct Household<'a> {
    pub(crate) user: UserId,
    pub(crate) today: Date,
    pub(crate) currency: Currency,
    pub(crate) rates: &'a Rates,
    pub(crate) accounts: Vec<&'a Account>,
}

impl Run {
    pub(crate) fn new(tx: &mut Tx<'_>, app: &App, user: UserId, scope: Scope) -> Result<Run> {
        let currency = tx.first(CURRENCY, params![user], |row| row.get(0))?;
        let currency: Currency = currency.ok_or(Error::NotFound("user"))?;
        Ok(Run {
            app: app.clone(),
            user,
            now: app.clock.now(),
            today: app.clock.today(),
            currency,
            rates: rates::latest_in(tx, user, currency)?,
            accounts: accounts::all_in(tx, user)?,
            scope,
            spoken_of: BTreeSet::new(),
            events: Vec::new(),
            updated: BTreeMap::new(),
            hidden: BTreeMap::new(),
        })
    }

    /// Hidden accounts are left out, and so are those outside `only`.
    pub(crate) fn household(&self, only: Option<&[AccountId]>) -> Household<'_> {
        let shown =
            |it: &&Account| it.hidden_at.is_none() && only.is_none_or(|only| only.contains(&it.id));
        Household {
            user: self.user,
            today: self.today,
            currency: self.currency,
            rates: &self.rates,
            accounts: self.accounts.iter().filter(shown).collect(),
        }
    }

    pub(crate) fn account(&self, id: AccountId) -> Option<&Account> {
        self.accounts.iter().find(|it| it.id == id)
    }

    /// Puts into the outbox what has changed.
    fn tell(&mut self, tx: &mut Tx<'_>) -> Result<()> {
        let updated = std::mem::take(&mut self.updated);
        for (all, removed) in [(updated, false), (std::mem::take(&mut self.hidden), true)] {
            for (account, ids) in all {
                for chunk in ids.chunks(Event::IDS_MAX) {
                    self.events.push(Event::TransactionsUpdated {
                        account_id: account.to_string(),
                        transaction_ids: chunk.iter().map(ToString::to_string).collect(),
                        count: chunk.len(),
                        removed,
                    });
                }
            }
        }
        outbox::append(&self.app, tx, self.user, &self.events)
    }

    fn finish(mut self, tx: &mut Tx<'_>, asked: i64, scores_missing: Option<&str>) -> Result<()> {
        self.tell(tx)?;
        tx.execute(CLEAR_CHANGES, params![self.user])?;
        tx.execute(CLEAR_WORK, params![self.user, asked])?;
        tx.execute(SAVE_DONE, params![self.user, *METHOD, self.today, self.now, scores_missing])?;
        Ok(())
    }
}

const LOCK: &str = "update users set updated_at = updated_at where id = $1";
const TOUCHED: &str = "select account_id, merchant_key, posted_on, amount_minor from transactions
    where user_id = $1 and id = $2 and state <> 'removed'";
const WORK: &str = "select everything_at, asked from insight_work where user_id = $1";
const DONE: &str = "select computed_on from insights where user_id = $1 and method = $2";
const CHANGES: &str =
    "select account_id, merchant_key, posted_on, amount_minor from insight_changes
    where user_id = $1";
const CURRENCY: &str = "select base_currency from users where id = $1";
const CLEAR_CHANGES: &str = "delete from insight_changes where user_id = $1";
const CLEAR_WORK: &str = "delete from insight_work where user_id = $1 and asked = $2";
const SAVE_DONE: &str =
    "insert into insights (user_id, method, computed_on, computed_at, scores_missing)
    values ($1, $2, $3, $4, $5) on conflict (user_id) do update set method = excluded.method,
    computed_on = excluded.computed_on, computed_at = excluded.computed_at,
    scores_missing = excluded.scores_missing";

pub(super) const STATEMENTS: &[&str] =
    &[LOCK, TOUCHED, WORK, DONE, CHANGES, CURRENCY, CLEAR_CHANGES, CLEAR_WORK, SAVE_DONE];
