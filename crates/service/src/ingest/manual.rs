//! Manual accounts: accounts without a bank connection, whose balances and transactions the person enters.

use std::sync::Arc;

use base::category::Category;
use base::draft::{AccountDraft, AccountKind, BalanceDraft, Source, TransactionDraft, id_source};
use base::{AccountId, Currency, Date, Money, Timestamp, TransactionId, kinds};
use calc::matching::MANUAL;
use db::{Tx, params};
use wire::v1::Code;

use crate::classify::cleaned_descriptions::CleanedDescriptions;
use crate::ingest::imports::{
    self, FileInfo, ImportOutcome, ImportRequest, IncomingAccount, Progress,
};
use crate::platform::audit::{self, Note};
use crate::{App, Caller, Error, Result};

const CONNECTION: &str = "manual";
const TEXT_MAX: usize = 200;

/// A new account as the person describes it.
#[derive(Debug, Clone)]
pub struct NewAccount {
    pub name: String,
    pub kind: AccountKind,
    pub currency: Currency,
    /// The current balance; of a card or a loan, the amount owed.
    pub balance_minor: Option<i64>,
}

/// A transaction as the person enters it.
#[derive(Debug, Clone)]
pub struct ManualTransaction {
    pub on: Date,
    /// Positive is money into the account.
    pub amount_minor: i64,
    pub description: String,
    pub category: Option<Category>,
}

/// Creates a manual account.
pub async fn create_account(app: &App, caller: &Caller, new: NewAccount) -> Result<AccountId> {
    caller.require_owner("account")?;
    let (mine, caller) = (app.clone(), caller.clone());
    app.db.write(move |tx| create_account_in(tx, &mine, &caller, &new)).await
}

/// The same, inside a transaction.
pub(super) fn create_account_in(
    tx: &mut Tx<'_>,
    app: &App,
    caller: &Caller,
    new: &NewAccount,
) -> Result<AccountId> {
    let name = text("name", &new.name)?;
    let balance = new.balance_minor.map(|minor| balance(app.clock.now(), minor));
    let id = app.ids.make::<kinds::Account>();
    let named = AccountDraft::new(id.to_string(), &name, new.kind, new.currency);
    let request = import_request(app, AccountDraft { balance, ..named }, None);
    let request = imports::prepare(request)?;
    let ImportOutcome { accounts, .. } = imports::commit_in(tx, app, caller.user, request)?;
    let created = accounts.first().copied();
    let created = created.ok_or_else(|| Error::internal("the import created no account"))?;
    tx.execute(RECONCILE, params![caller.user, created, app.today(caller)])?;
    let note = Note::new(caller, "account.create", format!("Added the account {name}"));
    audit::note(tx, caller.user, app.clock.now(), note.about(created))?;
    Ok(created)
}

/// Sets the current balance of an account, whatever its transactions add up to.
pub async fn set_balance(app: &App, caller: &Caller, id: AccountId, minor: i64) -> Result<()> {
    let details = move |account: &ManualAccount| {
        let now = Money::new(minor, account.currency);
        ("account.balance", format!("Set the balance of {} to {now}", account.name))
    };
    let change = move |account: &ManualAccount, now: Timestamp| AccountDraft {
        balance: Some(balance(now, minor)),
        ..account.draft()
    };
    commit_change(app, caller, id, (details, change)).await?;
    let (user, today) = (caller.user, app.today(caller));
    let reconcile =
        move |tx: &mut Tx<'_>| Ok::<_, Error>(tx.execute(RECONCILE, params![user, id, today])?);
    app.db.write(reconcile).await.map(|_| ())
}

/// Adds a transaction. The balance changes with it, unless the balance already includes its day.
pub async fn create_transaction(
    app: &App,
    caller: &Caller,
    id: AccountId,
    entry: ManualTransaction,
) -> Result<TransactionId> {
    let entry = validated(entry)?;
    let own = format!("{MANUAL} {}", app.ids.make::<kinds::Transaction>());
    let external_id = own.clone();
    let details = |account: &ManualAccount| {
        ("transaction.add", format!("Added a transaction to {}", account.name))
    };
    let change = move |account: &ManualAccount, now: Timestamp| AccountDraft {
        balance: account.balance_after(now, None, Some((entry.on, entry.amount_minor))),
        transactions: vec![transaction_draft(account.currency, own, entry)],
        ..account.draft()
    };
    commit_change(app, caller, id, (details, change)).await?;
    let found = params![caller.user, id, &external_id];
    let created = app.db.first(BY_EXTERNAL_ID, found, |row| row.get(0)).await?;
    created.ok_or_else(|| Error::internal("a transaction is missing right after it was added"))
}

/// Changes a transaction that was entered manually.
pub async fn update_transaction(
    app: &App,
    caller: &Caller,
    id: TransactionId,
    entry: ManualTransaction,
) -> Result<()> {
    let entry = validated(entry)?;
    let old = get_transaction(app, caller, id).await?;
    let details = |account: &ManualAccount| {
        ("transaction.edit", format!("Changed a transaction on {}", account.name))
    };
    let removed = old.effect();
    let change = move |account: &ManualAccount, now: Timestamp| AccountDraft {
        balance: account.balance_after(now, Some(removed), Some((entry.on, entry.amount_minor))),
        transactions: vec![transaction_draft(account.currency, old.external_id, entry)],
        ..account.draft()
    };
    commit_change(app, caller, old.account, (details, change)).await.map(|_| ())
}

/// Deletes a transaction that was entered manually.
pub async fn delete_transaction(app: &App, caller: &Caller, id: TransactionId) -> Result<()> {
    let old = get_transaction(app, caller, id).await?;
    let details = |account: &ManualAccount| {
        ("transaction.remove", format!("Removed a transaction from {}", account.name))
    };
    let removed = old.effect();
    let change = move |account: &ManualAccount, now: Timestamp| AccountDraft {
        balance: account.balance_after(now, Some(removed), None),
        removed: vec![old.external_id],
        ..account.draft()
    };
    commit_change(app, caller, old.account, (details, change)).await.map(|_| ())
}

/// Whether a transaction was entered manually, so that it can be changed.
pub async fn is_manual(app: &App, caller: &Caller, id: TransactionId) -> Result<bool> {
    match get_transaction(app, caller, id).await {
        Ok(_) => Ok(true),
        Err(Error::Conflict { .. } | Error::NotFound(_)) => Ok(false),
        Err(error) => Err(error),
    }
}

/// An account before a manual change.
struct ManualAccount {
    name: String,
    kind: AccountKind,
    currency: Currency,
    balance_minor: Option<i64>,
    as_of: Option<Timestamp>,
    /// The date of the balance.
    reported_on: Option<Date>,
    reconciled_on: Option<Date>,
}

impl ManualAccount {
    fn draft(&self) -> AccountDraft {
        AccountDraft::new("", &self.name, self.kind, self.currency)
    }

    /// The balance after one transaction is removed and another added; none if it stays the same or is not known.
    fn balance_after(
        &self,
        now: Timestamp,
        removed: Option<(Date, i64)>,
        added: Option<(Date, i64)>,
    ) -> Option<BalanceDraft> {
        let as_of = self.as_of?;
        let counted_until = self.reconciled_on.or(self.reported_on)?;
        let counts = |it: Option<(Date, i64)>| it.filter(|it| it.0 >= counted_until);
        let effect =
            counts(added).map_or(0, |it| it.1).checked_sub(counts(removed).map_or(0, |it| it.1))?;
        let effect = if self.kind.is_debt() { effect.checked_neg()? } else { effect };
        let minor = self.balance_minor?.checked_add(effect)?;
        (effect != 0).then(|| balance(now.max(as_of), minor))
    }
}

/// Applies a manual change as an import and records it in the audit log. Accounts that a bank syncs are refused.
async fn commit_change<D, C>(
    app: &App,
    caller: &Caller,
    id: AccountId,
    (details, change): (D, C),
) -> Result<ImportOutcome>
where
    D: FnOnce(&ManualAccount) -> (&'static str, String) + Send + 'static,
    C: FnOnce(&ManualAccount, Timestamp) -> AccountDraft + Send + 'static,
{
    caller.require_owner("account")?;
    let (mine, caller) = (app.clone(), caller.clone());
    let write = move |tx: &mut Tx<'_>| {
        let (user, now) = (caller.user, mine.clock.now());
        let account = get_account(tx, &caller, id)?;
        let (action, details) = details(&account);
        let request = import_request(&mine, change(&account, now), Some(id));
        let outcome = imports::commit_in(tx, &mine, user, imports::prepare(request)?)?;
        audit::note(tx, user, now, Note::new(&caller, action, details).about(id))?;
        Ok(outcome)
    };
    app.db.write(write).await
}

fn get_account(tx: &mut Tx<'_>, caller: &Caller, id: AccountId) -> Result<ManualAccount> {
    let found = tx.first(ACCOUNT, params![caller.user, id], |row| {
        let kind: AccountKind = row.get(1)?;
        let as_of: Option<Timestamp> = row.get(4)?;
        let account = ManualAccount {
            name: row.get(0)?,
            kind,
            currency: row.get(2)?,
            balance_minor: row.get(3)?,
            as_of,
            reported_on: as_of.map(|it| caller.timezone.date_of_report(it)),
            reconciled_on: row.get(5)?,
        };
        Ok((account, row.get::<String>(6)?))
    })?;
    let (account, source) = found.ok_or(Error::NotFound("account"))?;
    if source != Source::Manual.as_str() && source != Source::File.as_str() {
        let message =
            format!("{} is synced with its bank, so it can't be edited manually.", account.name);
        return Err(Error::Conflict { code: Code::Conflict, message });
    }
    Ok(account)
}

/// A stored transaction that was entered manually.
struct StoredTransaction {
    account: AccountId,
    external_id: String,
    on: Date,
    amount_minor: i64,
}

impl StoredTransaction {
    fn effect(&self) -> (Date, i64) {
        (self.on, self.amount_minor)
    }
}

async fn get_transaction(
    app: &App,
    caller: &Caller,
    id: TransactionId,
) -> Result<StoredTransaction> {
    caller.require_owner("transaction")?;
    let read = |row: &db::Row<'_>| {
        Ok((row.get(0)?, row.get::<Option<String>>(1)?, row.get(2)?, row.get(3)?))
    };
    let found = app.db.first(TRANSACTION, params![caller.user, id], read).await?;
    let (account, external_id, on, amount_minor) = found.ok_or(Error::NotFound("transaction"))?;
    let external_id = external_id.filter(|it| id_source(it) == MANUAL).ok_or_else(|| {
        let message = "This transaction was imported. You can change only transactions that you entered \
                       yourself.";
        Error::Conflict { code: Code::Conflict, message: message.to_owned() }
    })?;
    Ok(StoredTransaction { account, external_id, on, amount_minor })
}

fn validated(entry: ManualTransaction) -> Result<ManualTransaction> {
    if entry.amount_minor == 0 {
        return Err(Error::invalid("amount", "Enter an amount other than zero."));
    }
    Ok(ManualTransaction { description: text("description", &entry.description)?, ..entry })
}

fn text(param: &str, text: &str) -> Result<String> {
    let text = text.trim();
    if text.is_empty() || text.chars().count() > TEXT_MAX || text.chars().any(char::is_control) {
        let message = format!("{param} must have 1 to {TEXT_MAX} characters on one line.");
        return Err(Error::invalid(param, message));
    }
    Ok(text.to_owned())
}

fn transaction_draft(
    currency: Currency,
    external_id: String,
    entry: ManualTransaction,
) -> TransactionDraft {
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

fn import_request(app: &App, draft: AccountDraft, into: Option<AccountId>) -> ImportRequest {
    let provenance: Arc<str> = MANUAL.into();
    ImportRequest {
        source: Source::Manual,
        connection: CONNECTION.to_owned(),
        institution: None,
        as_of: app.clock.now(),
        accounts: vec![IncomingAccount {
            draft,
            provenance,
            into,
            names_pending: false,
            link: None,
        }],
        rates: Vec::new(),
        file: FileInfo::default(),
        progress: Progress::default(),
        cleaned: CleanedDescriptions::default(),
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
const BY_EXTERNAL_ID: &str = "select id from transactions
    where user_id = $1 and account_id = $2 and external_id = $3
    and substr(external_id, 1, 5) <> 'file:' and state <> 'removed'";

pub(crate) const STATEMENTS: &[&str] = &[ACCOUNT, RECONCILE, TRANSACTION, BY_EXTERNAL_ID];
