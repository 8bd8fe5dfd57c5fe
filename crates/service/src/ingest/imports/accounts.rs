//! Saves the accounts of an import: creates or updates them, and keeps every reported balance.

use base::draft::{AccountDraft, AccountKind};
use base::{AccountId, Currency, Date, Timestamp, kinds};
use db::{Tx, params};
use wire::json::Moment;
use wire::v1::Event;

use super::batch::{Batch, SavedAccount};
use super::journal::RowKey;
use super::request::IncomingAccount;
use crate::ledger::stamps;
use crate::{Error, Result};

pub(super) fn save(
    tx: &mut Tx<'_>,
    batch: &mut Batch,
    incoming: &IncomingAccount,
) -> Result<SavedAccount> {
    let draft = &incoming.draft;
    let stored = match incoming.into {
        Some(id) => {
            let found = tx.first(BY_ID, params![batch.user, id], read_stored)?;
            Some(found.ok_or(Error::NotFound("account"))?)
        }
        None => {
            let key = params![batch.user, batch.connection, &draft.external_id];
            tx.first(BY_EXTERNAL_ID, key, read_stored)?
        }
    };
    if let Some(stored) = stored {
        let StoredAccount { id, currency, kind, .. } = stored;
        if currency != draft.currency {
            let message = format!(
                "The account {} is in {currency} and can't be changed to {}.",
                stored.name, draft.currency
            );
            return Err(Error::invalid("currency", message));
        }
        batch.journal.record(tx, batch.user, RowKey::Account(id))?;
        // Only the source that an account belongs to may rename it.
        if incoming.into.is_none() && update(tx, batch, id, draft)? {
            batch.changed.insert(id);
            // Transfers are found by an account's names, and closed accounts leave the figures.
            batch.all_dirty |= stored.is_renamed(draft);
            if draft.name != stored.name {
                stamps::mark_account(tx, batch.user, id, batch.stamp)?;
            }
        }
        let is_from_source = incoming.into.is_none() && !stored.has_own_type;
        let subtype = draft.subtype.clone().filter(|_| is_from_source).or(stored.subtype);
        let is_balance_reversed = kind.is_debt() != draft.kind.is_debt();
        return Ok(SavedAccount {
            id,
            currency,
            kind,
            subtype,
            is_balance_reversed,
            is_new: false,
        });
    }
    let id = batch.app.ids.make::<kinds::Account>();
    insert(tx, batch, id, draft)?;
    batch.journal.record_new(RowKey::Account(id));
    batch.events.push(Event::AccountConnected {
        account_id: id.to_string(),
        institution_name: draft.institution_name.clone(),
        r#type: draft.kind.as_str(),
    });
    let (currency, kind, subtype) = (draft.currency, draft.kind, draft.subtype.clone());
    Ok(SavedAccount { id, currency, kind, subtype, is_balance_reversed: false, is_new: true })
}

struct StoredAccount {
    id: AccountId,
    currency: Currency,
    kind: AccountKind,
    name: String,
    mask: Option<String>,
    subtype: Option<String>,
    institution_name: Option<String>,
    closed_on: Option<Date>,
    /// Whether the person chose its type.
    has_own_type: bool,
}

impl StoredAccount {
    fn is_renamed(&self, draft: &AccountDraft) -> bool {
        let differs =
            |new: &Option<String>, stored: &Option<String>| new.is_some() && new != stored;
        draft.name != self.name
            || differs(&draft.mask, &self.mask)
            || (!self.has_own_type && differs(&draft.subtype, &self.subtype))
            || differs(&draft.institution_name, &self.institution_name)
            || draft.closed_on != self.closed_on
    }
}

fn read_stored(row: &db::Row<'_>) -> db::Result<StoredAccount> {
    Ok(StoredAccount {
        id: row.get(0)?,
        currency: row.get(1)?,
        kind: row.get(2)?,
        name: row.get(3)?,
        mask: row.get(4)?,
        subtype: row.get(5)?,
        institution_name: row.get(6)?,
        closed_on: row.get(7)?,
        has_own_type: row.get::<Option<Timestamp>>(8)?.is_some(),
    })
}

fn insert(tx: &mut Tx<'_>, batch: &Batch, id: AccountId, draft: &AccountDraft) -> Result<()> {
    let rate = draft.interest_rate.map(|it| it.to_string());
    tx.execute(
        INSERT,
        params![
            batch.user,
            id,
            batch.connection,
            &draft.external_id,
            &draft.name,
            &draft.mask,
            draft.kind.as_str(),
            &draft.subtype,
            draft.currency.code(),
            &draft.institution_name,
            &draft.institution_logo,
            &rate,
            &draft.apy_display,
            draft.next_payment_due_on,
            draft.closed_on,
            batch.now
        ],
    )?;
    Ok(())
}

/// Updates an account, and returns whether it changed. A value that the source leaves out stays as it is.
fn update(tx: &mut Tx<'_>, batch: &Batch, id: AccountId, draft: &AccountDraft) -> Result<bool> {
    let rate = draft.interest_rate.map(|it| it.to_string());
    let updated = tx.execute(
        UPDATE,
        params![
            batch.user,
            id,
            &draft.name,
            &draft.mask,
            &draft.subtype,
            &draft.institution_name,
            &draft.institution_logo,
            &rate,
            &draft.apy_display,
            draft.next_payment_due_on,
            draft.closed_on,
            batch.now
        ],
    )?;
    Ok(updated > 0)
}

/// Saves every reported balance by its day, and the newest one on the account itself.
pub(super) fn save_balances(
    tx: &mut Tx<'_>,
    batch: &mut Batch,
    account: &SavedAccount,
    draft: &AccountDraft,
) -> Result<()> {
    let (user, id) = (batch.user, account.id);
    // The source may know the account as something owned, and the person as something owed.
    let signed =
        |minor: i64| if account.is_balance_reversed { minor.saturating_neg() } else { minor };
    for past in &draft.past_balances {
        batch.record(tx, account, RowKey::Balance(id, past.on))?;
        let past_minor = signed(past.current_minor);
        if tx.execute(SAVE_PAST, params![user, id, past.on, past_minor])? > 0 {
            batch.balances_dirty = true;
            batch.changed.insert(id);
        } else {
            batch.journal.discard(RowKey::Balance(id, past.on));
        }
    }
    let Some(balance) = draft.balance else { return Ok(()) };
    let before = tx.first(BALANCE, params![user, id], |row| {
        let as_of: Option<Timestamp> = row.get(0)?;
        let values: [Option<i64>; 3] = [row.get(1)?, row.get(2)?, row.get(3)?];
        Ok((as_of, values))
    })?;
    let (stored_as_of, stored) = before.unwrap_or((None, [None; 3]));
    let current_minor = Some(signed(balance.current_minor));
    let now = [current_minor, balance.available_minor, balance.limit_minor];
    if stored_as_of == Some(balance.as_of) && stored == now {
        return Ok(());
    }
    let on = batch.timezone.date_of_report(balance.as_of);
    batch.record(tx, account, RowKey::Balance(id, on))?;
    let reported = params![user, id, on, now[0], now[1], now[2]];
    // An older statement that is imported late may fill its own day, but must not replace the newer balance.
    if stored_as_of.is_some_and(|it| it > balance.as_of) {
        if tx.execute(SAVE_LATE, reported)? > 0 {
            batch.balances_dirty = true;
            batch.changed.insert(id);
        } else {
            batch.journal.discard(RowKey::Balance(id, on));
        }
        return Ok(());
    }
    batch.changed.insert(id);
    tx.execute(SAVE_REPORTED, reported)?;
    let as_of = balance.as_of;
    tx.execute(SET_BALANCE, params![user, id, now[0], now[1], now[2], as_of, batch.now])?;
    if stored != now {
        let as_of = Moment(balance.as_of);
        batch.events.push(Event::BalanceUpdated { account_id: id.to_string(), as_of });
    }
    Ok(())
}

const BY_EXTERNAL_ID: &str =
    "select id, currency, kind, name, mask, subtype, institution_name, closed_on, own_type_at from accounts
    where user_id = $1 and connection_id = $2 and external_id = $3";
const BY_ID: &str =
    "select id, currency, kind, name, mask, subtype, institution_name, closed_on, own_type_at from accounts
    where user_id = $1 and id = $2";
const INSERT: &str =
    "insert into accounts (user_id, id, connection_id, external_id, name, mask, kind, subtype,
    currency, institution_name, institution_logo, interest_rate, apy_display, next_payment_due_on,
    closed_on, transaction_count, created_at, updated_at)
    values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, 0, $16, $16)";
// Updates only a row that changes, so that `updated_at` is the time of a change.
const UPDATE: &str = "update accounts set name = $3, mask = coalesce($4, mask),
    subtype = case when own_type_at is null then coalesce($5, subtype) else subtype end,
    institution_name = coalesce($6, institution_name), institution_logo = coalesce($7, institution_logo),
    interest_rate = coalesce($8, interest_rate), apy_display = coalesce($9, apy_display),
    next_payment_due_on = coalesce($10, next_payment_due_on), closed_on = $11, updated_at = $12
    where user_id = $1 and id = $2 and (name <> $3 or mask is distinct from coalesce($4, mask)
        or (own_type_at is null and subtype is distinct from coalesce($5, subtype))
        or institution_name is distinct from coalesce($6, institution_name)
        or institution_logo is distinct from coalesce($7, institution_logo)
        or interest_rate is distinct from coalesce($8, interest_rate)
        or apy_display is distinct from coalesce($9, apy_display)
        or next_payment_due_on is distinct from coalesce($10, next_payment_due_on)
        or closed_on is distinct from $11)";
// A balance that was reported on its own day is more reliable than one reported later.
const SAVE_PAST: &str = "insert into balances (user_id, account_id, reported_on, current_minor)
    values ($1, $2, $3, $4)
    on conflict (user_id, account_id, reported_on) do nothing";
const SAVE_REPORTED: &str = "insert into balances
    (user_id, account_id, reported_on, current_minor, available_minor, limit_minor)
    values ($1, $2, $3, $4, $5, $6)
    on conflict (user_id, account_id, reported_on) do update set current_minor = excluded.current_minor,
        available_minor = excluded.available_minor, limit_minor = excluded.limit_minor";
const SAVE_LATE: &str = "insert into balances
    (user_id, account_id, reported_on, current_minor, available_minor, limit_minor)
    values ($1, $2, $3, $4, $5, $6)
    on conflict (user_id, account_id, reported_on) do nothing";
const BALANCE: &str = "select balance_as_of, balance_current_minor, balance_available_minor,
    balance_limit_minor from accounts where user_id = $1 and id = $2";
const SET_BALANCE: &str =
    "update accounts set balance_current_minor = $3, balance_available_minor = $4,
    balance_limit_minor = $5, balance_as_of = $6, updated_at = $7
    where user_id = $1 and id = $2 and (balance_as_of is distinct from $6
        or balance_current_minor is distinct from $3
        or balance_available_minor is distinct from $4 or balance_limit_minor is distinct from $5)";

pub(super) const STATEMENTS: &[&str] = &[
    BY_EXTERNAL_ID,
    BY_ID,
    INSERT,
    UPDATE,
    SAVE_PAST,
    SAVE_REPORTED,
    SAVE_LATE,
    BALANCE,
    SET_BALANCE,
];
