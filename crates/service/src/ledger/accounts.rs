//! Linked accounts: listing them, and renaming, hiding, closing and reopening them.

use base::draft::{AccountKind, Source};
use base::{AccountId, Currency, Date, Fixed9, Money, Timestamp, UserId};
use db::params;
use wire::json::{Day, Moment, Number};
use wire::v1::{self, Code, Scope};

use crate::ledger::stamps;
use crate::platform::audit::{self, Note};
use crate::platform::{dirty_queue, person_lock};
use crate::{App, Caller, Error, Result};

#[derive(Debug, Clone)]
pub struct Account {
    pub id: AccountId,
    /// The person's own name for it, or else the bank's.
    pub name: String,
    /// The bank's name for it, which also appears in transaction descriptions.
    pub bank_name: String,
    pub mask: Option<String>,
    pub kind: AccountKind,
    pub subtype: Option<String>,
    pub currency: Currency,
    pub institution_name: Option<String>,
    pub institution_logo: Option<String>,
    pub balance_current_minor: Option<i64>,
    pub balance_available_minor: Option<i64>,
    pub balance_limit_minor: Option<i64>,
    pub balance_as_of: Option<Timestamp>,
    /// Yearly, in percent: the person's own, or else the source's.
    pub interest_rate: Option<Fixed9>,
    pub apy_display: Option<String>,
    /// The source's date, or else the next one by the person's due day.
    pub next_payment_due_on: Option<Date>,
    /// The terms of a card or loan that the person entered.
    pub own_terms: Terms,
    /// The day on which it was closed, by the bank or by the person.
    pub closed_on: Option<Date>,
    /// Whether only the person closed it, and so can reopen it.
    pub closed_by_person: bool,
    pub hidden_at: Option<Timestamp>,
    pub updated_at: Timestamp,
    pub source: Source,
    pub connection_status: ConnectionStatus,
    /// The problem with syncing it, and what to do. Plain text, partly as the bank wrote it.
    pub attention: Option<String>,
}

impl From<&Account> for v1::Account {
    fn from(account: &Account) -> v1::Account {
        let money = |minor: Option<i64>| {
            minor.map(|minor| Number::from(Money::new(minor, account.currency)))
        };
        v1::Account {
            id: account.id.to_string(),
            name: account.name.clone(),
            mask: account.mask.clone(),
            r#type: account.kind.as_str(),
            subtype: account.subtype.clone(),
            status: if account.closed_on.is_some() { "closed" } else { "open" },
            connection_status: account.connection_status.as_str().to_owned(),
            hidden: account.hidden_at.is_some(),
            currency: account.currency.to_string(),
            balance_available: money(account.balance_available_minor),
            balance_current: money(account.balance_current_minor),
            balance_limit: money(account.balance_limit_minor),
            interest_rate_percentage: account.interest_rate.map(Number::from),
            apy_percent_display: account.apy_display.clone(),
            next_payment_due_date: account.next_payment_due_on.map(Day),
            institution_name: account.institution_name.clone(),
            institution_logo: account.institution_logo.clone(),
            external_source: account.source.as_str().to_owned(),
            as_of: account.balance_as_of.map(Moment),
            updated_at: Moment(account.updated_at),
        }
    }
}

/// The terms of a card or loan, as the person entered them. None where they entered nothing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Terms {
    /// Yearly, in percent.
    pub interest_rate: Option<Fixed9>,
    /// What is paid each month, in minor units of the account's currency.
    pub payment_minor: Option<i64>,
    /// The day of the month on which a statement closes, 1 to 31. A shorter month has it on its last day.
    pub statement_day: Option<i64>,
    /// The day of the month on which a payment is due, 1 to 31.
    pub due_day: Option<i64>,
}

impl Account {
    /// The next day on which a statement closes, today included.
    pub fn next_statement_on(&self, today: Date) -> Option<Date> {
        self.own_terms.statement_day.and_then(|it| calc::payoff::next_on_day(it, today))
    }

    /// Fills in the next due date by the person's due day, if the source gives none or one that has passed.
    fn with_due_date(mut self, today: Date) -> Account {
        if self.next_payment_due_on.is_none_or(|it| it < today)
            && let Some(day) = self.own_terms.due_day
        {
            self.next_payment_due_on = calc::payoff::next_on_day(day, today);
        }
        self
    }
}

base::words!(
    /// The state of the connection that an account is synced by.
    ConnectionStatus {
        Connected => "connected",
        NeedsAttention => "needs_attention",
        Disconnected => "disconnected",
        /// Kept by hand, so there is nothing to sync.
        Manual => "manual",
    }
);
db::word_columns!(ConnectionStatus);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    Open,
    Closed,
    All,
}

#[derive(Debug, Clone, Copy)]
pub struct Filter {
    pub status: Status,
    pub include_hidden: bool,
}

/// The accounts a caller may see, by type and then by name.
pub async fn list(app: &App, caller: &Caller, filter: Filter) -> Result<Vec<Account>> {
    caller.require(Scope::AccountsRead)?;
    let mut accounts = list_all(app, caller).await?;
    accounts.retain(|account| {
        let status = match filter.status {
            Status::Open => account.closed_on.is_none(),
            Status::Closed => account.closed_on.is_some(),
            Status::All => true,
        };
        status && (filter.include_hidden || account.hidden_at.is_none())
    });
    Ok(accounts)
}

/// Every account that the caller may see, hidden and closed ones too.
pub(crate) async fn list_all(app: &App, caller: &Caller) -> Result<Vec<Account>> {
    let today = app.today(caller);
    let found = app.db.all(ALL, params![caller.user], read).await?;
    let visible = found.into_iter().filter(|it| caller.may_see(it.id));
    let mut accounts: Vec<Account> = visible.map(|it| it.with_due_date(today)).collect();
    accounts.sort_by(|a, b| (a.kind, &a.name, a.id).cmp(&(b.kind, &b.name, b.id)));
    Ok(accounts)
}

/// Every account of a person, inside a transaction.
pub(crate) fn list_in_tx(tx: &mut db::Tx<'_>, user: UserId) -> Result<Vec<Account>> {
    let mut accounts = tx.all(ALL, params![user], read)?;
    accounts.sort_by_key(|it| it.id);
    Ok(accounts)
}

/// Counts the visible transactions of an account again, where a change of the count is not known.
pub(crate) fn recount(tx: &mut db::Tx<'_>, user: UserId, id: AccountId) -> Result<()> {
    tx.execute(RECOUNT, params![user, id])?;
    Ok(())
}

/// One account, hidden and closed ones too.
pub async fn get(app: &App, caller: &Caller, id: AccountId) -> Result<Account> {
    caller.require(Scope::AccountsRead)?;
    get_visible(app, caller, id).await
}

/// One account, for callers that have checked another scope.
pub(crate) async fn get_visible(app: &App, caller: &Caller, id: AccountId) -> Result<Account> {
    let found = app.db.first(GET, params![caller.user, id], read).await?;
    let visible = found.filter(|_| caller.may_see(id)).ok_or(Error::NotFound("account"))?;
    Ok(visible.with_due_date(app.today(caller)))
}

/// Hides an account from lists and totals, or shows it again. Its data is kept.
pub async fn set_hidden(app: &App, caller: &Caller, id: AccountId, hidden: bool) -> Result<()> {
    let (action, verb) = match hidden {
        true => ("account.hide", "Hid"),
        false => ("account.show", "Showed"),
    };
    change(app, caller, id, move |tx, change| {
        let at = hidden.then_some(change.now);
        tx.execute(SET_HIDDEN, params![change.user, id, at, change.now])?;
        change.mark_transactions(tx)?;
        Ok((action, format!("{verb} the account {}", change.account.name)))
    })
    .await
}

/// Sets the person's own name for an account, or goes back to the bank's.
pub async fn rename(app: &App, caller: &Caller, id: AccountId, name: Option<&str>) -> Result<()> {
    let name = name.map(str::trim).filter(|it| !it.is_empty()).map(str::to_owned);
    if name.as_deref().is_some_and(|it| it.chars().count() > 80 || it.contains(char::is_control)) {
        return Err(Error::invalid("name", "name must have at most 80 characters on one line"));
    }
    change(app, caller, id, move |tx, change| {
        tx.execute(RENAME, params![change.user, id, &name, change.now])?;
        change.mark_transactions(tx)?;
        let Account { name: before, bank_name, .. } = &change.account;
        let now = name.as_ref().unwrap_or(bank_name);
        Ok(("account.rename", format!("Renamed the account {before} to {now}")))
    })
    .await
}

/// Closes an account for the person. It keeps its history, and its balance is zero from that day on.
pub async fn close(app: &App, caller: &Caller, id: AccountId, on: Date) -> Result<()> {
    if on > app.today(caller) {
        return Err(Error::invalid("closed_on", "closed_on must not be after today"));
    }
    change(app, caller, id, move |tx, change| {
        if change.account.closed_on.is_some() {
            return Err(conflict("this account is already closed"));
        }
        tx.execute(SET_CLOSED, params![change.user, id, Some(on), change.now])?;
        Ok(("account.close", format!("Closed the account {} as of {on}", change.account.name)))
    })
    .await
}

/// Reopens an account that the person closed. One that the bank closed stays closed.
pub async fn reopen(app: &App, caller: &Caller, id: AccountId) -> Result<()> {
    change(app, caller, id, move |tx, change| {
        match (change.account.closed_on, change.account.closed_by_person) {
            (None, _) => return Err(conflict("this account is open")),
            (Some(_), false) => {
                let message = "the bank closed this account; only the bank can reopen it";
                return Err(conflict(message));
            }
            (Some(_), true) => {}
        }
        tx.execute(SET_CLOSED, params![change.user, id, None::<Date>, change.now])?;
        Ok(("account.reopen", format!("Reopened the account {}", change.account.name)))
    })
    .await
}

fn conflict(message: &str) -> Error {
    Error::Conflict { code: Code::Conflict, message: message.to_owned() }
}

/// An account before it is changed.
pub(crate) struct Change {
    pub(crate) user: UserId,
    pub(crate) now: Timestamp,
    pub(crate) account: Account,
}

impl Change {
    /// Takes a new stamp, because lists of transactions depend on what changes.
    pub(crate) fn take_stamp(&self, tx: &mut db::Tx<'_>) -> Result<Timestamp> {
        stamps::next(tx, self.user, self.now)
    }

    /// Marks the account's transactions as changed, because they show its name and are hidden with it.
    pub(crate) fn mark_transactions(&self, tx: &mut db::Tx<'_>) -> Result<()> {
        let stamp = self.take_stamp(tx)?;
        stamps::mark_account(tx, self.user, self.account.id, stamp)
    }
}

/// Changes an account in one transaction with the entry in the audit trail. All derived data must be recomputed after it.
pub(crate) async fn change(
    app: &App,
    caller: &Caller,
    id: AccountId,
    make: impl FnOnce(&mut db::Tx<'_>, &Change) -> Result<(&'static str, String)> + Send + 'static,
) -> Result<()> {
    caller.require_owner("account")?;
    let (caller, now) = (caller.clone(), app.clock.now());
    let work = move |tx: &mut db::Tx<'_>| {
        let user = caller.user;
        // Locked first, as imports do, so that the two never wait for each other.
        person_lock::lock(tx, user)?;
        let found = tx.first(GET, params![user, id], read)?;
        let account = found.ok_or(Error::NotFound("account"))?;
        let (action, details) = make(tx, &Change { user, now, account })?;
        audit::note(tx, user, now, Note::new(&caller, action, details).about(id))?;
        dirty_queue::mark_all_dirty(tx, user)
    };
    app.db.write(work).await
}

fn read(row: &db::Row<'_>) -> db::Result<Account> {
    let closed_on: Option<Date> = row.get(15)?;
    let rate = |column| match row.get::<Option<&str>>(column)? {
        Some(text) => Fixed9::parse(text)
            .map(Some)
            .map_err(|error| db::Error::Decode { column, reason: error.to_string() }),
        None => Ok(None),
    };
    let own_rate = rate(23)?;
    Ok(Account {
        id: row.get(0)?,
        name: row.get(1)?,
        mask: row.get(2)?,
        kind: row.word(3, "account kind", AccountKind::parse)?,
        subtype: row.get(4)?,
        currency: row.get(5)?,
        institution_name: row.get(6)?,
        institution_logo: row.get(7)?,
        balance_current_minor: row.get(8)?,
        balance_available_minor: row.get(9)?,
        balance_limit_minor: row.get(10)?,
        balance_as_of: row.get(11)?,
        interest_rate: own_rate.or(rate(12)?),
        apy_display: row.get(13)?,
        next_payment_due_on: row.get(14)?,
        closed_on,
        closed_by_person: closed_on.is_some() && row.get::<Option<Date>>(21)?.is_none(),
        hidden_at: row.get(16)?,
        updated_at: row.get(17)?,
        source: row.word(18, "source", Source::parse)?,
        connection_status: row.get(19)?,
        bank_name: row.get(20)?,
        attention: row.get(22)?,
        own_terms: Terms {
            interest_rate: own_rate,
            payment_minor: row.get(24)?,
            statement_day: row.get(25)?,
            due_day: row.get(26)?,
        },
    })
}

/// The columns and tables that `read` reads.
macro_rules! select_accounts {
    () => {
        "select a.id, coalesce(a.own_name, a.name), a.mask, a.kind, a.subtype, a.currency,
        a.institution_name, a.institution_logo, a.balance_current_minor, a.balance_available_minor,
        a.balance_limit_minor, a.balance_as_of, a.interest_rate, a.apy_display, a.next_payment_due_on,
        coalesce(a.closed_on, a.own_closed_on), a.hidden_at, a.updated_at, c.source,
        case when a.attention is not null and c.status = 'connected' then 'needs_attention' else c.status end,
        a.name, a.closed_on, coalesce(a.attention, case when c.status = 'needs_attention' then c.attention end),
        a.own_interest_rate, a.own_payment_minor, a.statement_day, a.due_day
        from accounts a join connections c on c.user_id = a.user_id and c.id = a.connection_id"
    };
}

const ALL: &str = concat!(select_accounts!(), " where a.user_id = $1");
const GET: &str = concat!(select_accounts!(), " where a.user_id = $1 and a.id = $2");
const SET_HIDDEN: &str =
    "update accounts set hidden_at = $3, updated_at = $4 where user_id = $1 and id = $2";
const RENAME: &str =
    "update accounts set own_name = $3, updated_at = $4 where user_id = $1 and id = $2";
const SET_CLOSED: &str =
    "update accounts set own_closed_on = $3, updated_at = $4 where user_id = $1 and id = $2";

const RECOUNT: &str = "update accounts set transaction_count = (select cast(count(*) as bigint)
    from transactions t where t.user_id = $1 and t.account_id = $2 and t.state not in ('removed', 'hidden'))
    where user_id = $1 and id = $2";

pub(crate) const STATEMENTS: &[&str] = &[ALL, GET, SET_HIDDEN, RENAME, SET_CLOSED, RECOUNT];
