//! What a person keeps up by hand: accounts that no bank tells of, their balances, and single transactions.

use std::sync::Arc;

use base::category::Category;
use base::draft::{AccountDraft, AccountKind, BalanceDraft, Source, TransactionDraft, id_source};
use base::{AccountId, Currency, Date, Money, Timestamp, TransactionId, UserId, kinds};
use calc::matching::HAND;
use db::{Tx, params};
use wire::v1::Code;

use crate::ingest::imports::{self, About, Delivery, Incoming, Outcome, Progress};
use crate::platform::audit::{self, Note};
use crate::{App, Caller, Error, Result};

const CONNECTION: &str = "manual";
const TEXT_MAX: usize = 200;

/// An account as the person describes it.
#[derive(Debug, Clone)]
pub struct NewAccount {
    pub name: String,
    pub kind: AccountKind,
    pub currency: Currency,
    /// What is on it now; of a card or a loan, what is owed.
    pub balance_minor: Option<i64>,
}

/// A transaction as the person writes it down.
#[derive(Debug, Clone)]
pub struct ManualTransaction {
    pub on: Date,
    /// Positive is money into the account.
    pub amount_minor: i64,
    pub description: String,
    pub category: Option<Category>,
}

/// Makes an account that is kept up by hand.
pub async fn create_account(app: &App, caller: &Caller, new: NewAccount) -> Result<AccountId> {
    caller.require_owner("account")?;
    let name = text("name", &new.name)?;
    let balance = new.balance_minor.map(|minor| balance(app.clock.now(), minor));
    let id = app.ids.make::<kinds::Account>();
    let named = AccountDraft::new(id.to_string(), &name, new.kind, new.currency);
    let delivery = delivery(app, AccountDraft { balance, ..named }, None);
    let delivery = imports::prepared(delivery)?;
    let (mine, caller) = (app.clone(), caller.clone());
    let write = move |tx: &mut Tx<'_>| {
        let Outcome { accounts, .. } = imports::take_in(tx, &mine, caller.user, delivery)?;
        let made = accounts.first().copied();
        let made = made.ok_or_else(|| Error::internal("no account was made"))?;
        tx.execute(RECONCILE, params![caller.user, made, mine.clock.today()])?;
        let note = Note::new(&caller, "account.create", format!("Added the account {name}"));
        audit::note(tx, caller.user, mine.clock.now(), note.about(made))?;
        Ok(made)
    };
    app.db.write(write).await
}

/// Says what is on an account now, whatever its transactions add up to.
pub async fn set_balance(app: &App, caller: &Caller, id: AccountId, minor: i64) -> Result<()> {
    let details = move |account: &Kept| {
        let now = Money::new(minor, account.currency);
        ("account.balance", format!("Set the balance of {} to {now}", account.name))
    };
    let change = move |account: &Kept, now: Timestamp| AccountDraft {
        balance: Some(balance(now, minor)),
        ..account.draft()
    };
    write(app, caller, id, (details, change)).await?;
    let (user, today) = (caller.user, app.clock.today());
    let reconcile =
        move |tx: &mut Tx<'_>| Ok::<_, Error>(tx.execute(RECONCILE, params![user, id, today])?);
    app.db.write(reconcile).await.map(|_| ())
}

/// Writes a transaction down. The balance moves with it, unless it is of a day that the balance already counts.
pub async fn create_transaction(
    app: &App,
    caller: &Caller,
    id: AccountId,
    entry: ManualTransaction,
) -> Result<TransactionId> {
    let entry = checked(entry)?;
    let own = format!("{HAND} {}", app.ids.make::<kinds::Transaction>());
    let external_id = own.clone();
    let details = |account: &Kept| {
        ("transaction.add", format!("Wrote down a transaction on {}", account.name))
    };
    let change = move |account: &Kept, now: Timestamp| AccountDraft {
        balance: account.moved(now, None, Some((entry.on, entry.amount_minor))),
        transactions: vec![row(account.currency, own, entry)],
        ..account.draft()
    };
    write(app, caller, id, (details, change)).await?;
    let found = params![caller.user, id, &external_id];
    let made = app.db.first(BY_NAME, found, |row| row.get(0)).await?;
    made.ok_or_else(|| Error::internal("a transaction vanished after it was written"))
}

/// Changes what was written down by hand.
pub async fn update_transaction(
    app: &App,
    caller: &Caller,
    id: TransactionId,
    entry: ManualTransaction,
) -> Result<()> {
    let entry = checked(entry)?;
    let old = by_hand(app, caller, id).await?;
    let details =
        |account: &Kept| ("transaction.edit", format!("Changed a transaction on {}", account.name));
    let went = old.effect();
    let change = move |account: &Kept, now: Timestamp| AccountDraft {
        balance: account.moved(now, Some(went), Some((entry.on, entry.amount_minor))),
        transactions: vec![row(account.currency, old.external_id, entry)],
        ..account.draft()
    };
    write(app, caller, old.account, (details, change)).await.map(|_| ())
}

/// Takes out what was written down by hand.
pub async fn delete_transaction(app: &App, caller: &Caller, id: TransactionId) -> Result<()> {
    let old = by_hand(app, caller, id).await?;
    let details = |account: &Kept| {
        ("transaction.remove", format!("Removed a transaction from {}", account.name))
    };
    let went = old.effect();
    let change = move |account: &Kept, now: Timestamp| AccountDraft {
        balance: account.moved(now, Some(went), None),
        removed: vec![old.external_id],
        ..account.draft()
    };
    write(app, caller, old.account, (details, change)).await.map(|_| ())
}

/// Whether a transaction was written down by hand, and so can be changed.
pub async fn is_manual(app: &App, caller: &Caller, id: TransactionId) -> Result<bool> {
    match by_hand(app, caller, id).await {
        Ok(_) => Ok(true),
        Err(Error::Conflict { .. } | Error::NotFound(_)) => Ok(false),
        Err(error) => Err(error),
    }
}

/// An account as it is before a change by hand.
struct Kept {
    name: String,
    kind: AccountKind,
    currency: Currency,
    balance_minor: Option<i64>,
    as_of: Option<Timestamp>,
    reconciled_on: Option<Date>,
}

impl Kept {
    fn draft(&self) -> AccountDraft {
        AccountDraft::new("", &self.name, self.kind, self.currency)
    }

    /// The balance after a transaction went and another came. Where none is known, none becomes known.
    fn moved(
        &self,
        now: Timestamp,
        went: Option<(Date, i64)>,
        came: Option<(Date, i64)>,
    ) -> Option<BalanceDraft> {
        let as_of = self.as_of?;
        let reported_on = base::date_from_days(as_of.as_second().div_euclid(86_400));
        let counted_until = self.reconciled_on.unwrap_or(reported_on);
        let counts = |it: Option<(Date, i64)>| it.filter(|it| it.0 >= counted_until);
        let effect =
            counts(came).map_or(0, |it| it.1).checked_sub(counts(went).map_or(0, |it| it.1))?;
        let effect = if self.kind.is_debt() { effect.checked_neg()? } else { effect };
        let minor = self.balance_minor?.checked_add(effect)?;
        (effect != 0).then(|| balance(now.max(as_of), minor))
    }
}

/// What every change by hand has in common: the account is one that no bank keeps up, and it is written down.
async fn write<D, C>(
    app: &App,
    caller: &Caller,
    id: AccountId,
    (details, change): (D, C),
) -> Result<Outcome>
where
    D: FnOnce(&Kept) -> (&'static str, String) + Send + 'static,
    C: FnOnce(&Kept, Timestamp) -> AccountDraft + Send + 'static,
{
    caller.require_owner("account")?;
    let (mine, caller) = (app.clone(), caller.clone());
    let write = move |tx: &mut Tx<'_>| {
        let (user, now) = (caller.user, mine.clock.now());
        let account = kept(tx, user, id)?;
        let (action, details) = details(&account);
        let delivery = delivery(&mine, change(&account, now), Some(id));
        let outcome = imports::take_in(tx, &mine, user, imports::prepared(delivery)?)?;
        audit::note(tx, user, now, Note::new(&caller, action, details).about(id))?;
        Ok(outcome)
    };
    app.db.write(write).await
}

fn kept(tx: &mut Tx<'_>, user: UserId, id: AccountId) -> Result<Kept> {
    let found = tx.first(ACCOUNT, params![user, id], |row| {
        let kind = AccountKind::parse(row.get(1)?).unwrap_or(AccountKind::Other);
        let kept = Kept {
            name: row.get(0)?,
            kind,
            currency: row.get(2)?,
            balance_minor: row.get(3)?,
            as_of: row.get(4)?,
            reconciled_on: row.get(5)?,
        };
        Ok((kept, row.get::<String>(6)?))
    })?;
    let (kept, source) = found.ok_or(Error::NotFound("account"))?;
    if source != Source::Manual.as_str() && source != Source::File.as_str() {
        let message =
            format!("{} is kept up by its bank; nothing is written by hand there", kept.name);
        return Err(Error::Conflict { code: Code::Conflict, message });
    }
    Ok(kept)
}

/// A transaction that was written by hand.
struct Written {
    account: AccountId,
    external_id: String,
    on: Date,
    amount_minor: i64,
}

impl Written {
    fn effect(&self) -> (Date, i64) {
        (self.on, self.amount_minor)
    }
}

async fn by_hand(app: &App, caller: &Caller, id: TransactionId) -> Result<Written> {
    caller.require_owner("transaction")?;
    let read = |row: &db::Row<'_>| {
        Ok((row.get(0)?, row.get::<Option<String>>(1)?, row.get(2)?, row.get(3)?))
    };
    let found = app.db.first(TRANSACTION, params![caller.user, id], read).await?;
    let (account, external_id, on, amount_minor) = found.ok_or(Error::NotFound("transaction"))?;
    let external_id = external_id.filter(|it| id_source(it) == HAND).ok_or_else(|| {
        let message = "a bank or a file told of this transaction; only what you wrote down yourself \
                       can be changed";
        Error::Conflict { code: Code::Conflict, message: message.to_owned() }
    })?;
    Ok(Written { account, external_id, on, amount_minor })
}

fn checked(entry: ManualTransaction) -> Result<ManualTransaction> {
    if entry.amount_minor == 0 {
        return Err(Error::invalid("amount", "the amount must not be zero"));
    }
    Ok(ManualTransaction { description: text("description", &entry.description)?, ..entry })
}

fn text(param: &str, text: &str) -> Result<String> {
    let text = text.trim();
    if text.is_empty() || text.chars().count() > TEXT_MAX || text.chars().any(char::is_control) {
        let message = format!("{param} must have 1 to {TEXT_MAX} characters on one line");
        return Err(Error::invalid(param, message));
    }
    Ok(text.to_owned())
}

fn row(currency: Currency, external_id: String, entry: ManualTransaction) -> TransactionDraft {
    TransactionDraft {
        external_id: Some(external_id),
        pending: false,
        settles: None,
        posted_on: entry.on,
        authorized_on: None,
        amount: Money::new(entry.amount_minor, currency),
        description: entry.description,
        counterparty: None,
        counterparty_logo_url: None,
        category: entry.category,
    }
}

fn balance(as_of: Timestamp, current_minor: i64) -> BalanceDraft {
    BalanceDraft { as_of, current_minor, available_minor: None, limit_minor: None }
}

fn delivery(app: &App, draft: AccountDraft, into: Option<AccountId>) -> Delivery {
    let giver: Arc<str> = HAND.into();
    Delivery {
        source: Source::Manual,
        connection: CONNECTION.to_owned(),
        institution: None,
        as_of: app.clock.now(),
        accounts: vec![Incoming { draft, giver, into, known_as: None }],
        rates: Vec::new(),
        about: About::default(),
        progress: Progress::default(),
    }
}

const ACCOUNT: &str =
    "select coalesce(a.own_name, a.name), a.kind, a.currency, a.balance_current_minor,
    a.balance_as_of, a.reconciled_on, c.source from accounts a
    join connections c on c.user_id = a.user_id and c.id = a.connection_id
    where a.user_id = $1 and a.id = $2";
const RECONCILE: &str = "update accounts set reconciled_on = $3 where user_id = $1 and id = $2";
const TRANSACTION: &str =
    "select account_id, external_id, posted_on, amount_minor from transactions
    where user_id = $1 and id = $2 and state <> 'removed'";
const BY_NAME: &str = "select id from transactions
    where user_id = $1 and account_id = $2 and external_id = $3 and state <> 'removed'";

pub(crate) const STATEMENTS: &[&str] = &[ACCOUNT, RECONCILE, TRANSACTION, BY_NAME];
