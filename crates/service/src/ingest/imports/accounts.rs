//! Saves the accounts of an import: creates or updates them.

use base::draft::{AccountDraft, AccountKind};
use base::{AccountId, Currency, Date, Timestamp, kinds};
use db::{Tx, params};
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
pub(super) const STATEMENTS: &[&str] = &[BY_EXTERNAL_ID, BY_ID, INSERT, UPDATE];
