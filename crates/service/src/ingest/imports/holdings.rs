//! Saves the holdings of an import: the account's list is replaced, and each security keeps its id.

use std::collections::{BTreeMap, BTreeSet};

use base::draft::{HoldingDraft, SecurityKind};
use base::{Fixed9, SecurityId, kinds};
use db::{Tx, params};
use wire::json::Moment;
use wire::v1::Event;

use super::batch::{Batch, SavedAccount};
use super::journal::RowKey;
use crate::Result;
use crate::ledger::instruments::{self, InstrumentKey};

pub(super) fn save(
    tx: &mut Tx<'_>,
    batch: &mut Batch,
    saved: &SavedAccount,
    positions: &[HoldingDraft],
) -> Result<()> {
    let (mut changes, account) = (0, saved.id);
    let stored = tx.all(STORED, params![batch.user, account], |row| row.get(0))?;
    let mut gone: BTreeSet<SecurityId> = stored.into_iter().collect();
    for position in &merge_lots(positions) {
        let security = save_security(tx, batch, position, &mut changes)?;
        gone.remove(&security);
        batch.record(tx, saved, RowKey::Holding(account, security))?;
        let quantity = position.quantity.to_string();
        let changed = tx.execute(
            SAVE_HOLDING,
            params![
                batch.user,
                account,
                security,
                batch.app.ids.make::<kinds::Holding>(),
                &quantity,
                position.cost_basis_minor,
                position.institution_value_minor,
                batch.now
            ],
        )?;
        changes += changed;
        if changed == 0 {
            batch.journal.discard(RowKey::Holding(account, security));
        } else {
            // Undoing the import deletes its securities, unless a later import uses them.
            batch.journal.record(tx, batch.user, RowKey::Security(security))?;
        }
    }
    // Delete the holdings that the source no longer lists.
    for security in gone {
        batch.record(tx, saved, RowKey::Holding(account, security))?;
        batch.journal.record(tx, batch.user, RowKey::Security(security))?;
        changes += tx.execute(DELETE, params![batch.user, account, security])?;
    }
    if changes > 0 {
        batch.changed.insert(account);
        let account_id = account.to_string();
        batch.events.push(Event::InvestmentsUpdated { account_id, as_of: Moment(batch.now) });
    }
    Ok(())
}

/// Adds up the lots of each security, because it is stored once per account. If the cost or value of one lot is
/// unknown, so is the sum's.
fn merge_lots(positions: &[HoldingDraft]) -> Vec<HoldingDraft> {
    let both = |a: Option<i64>, b: Option<i64>| a?.checked_add(b?);
    let mut merged: Vec<HoldingDraft> = Vec::with_capacity(positions.len());
    // By name, because a search through all lots for each lot of a hostile file would block the database.
    let mut indexes: BTreeMap<&str, usize> = BTreeMap::new();
    for lot in positions {
        let index = *indexes.entry(&lot.security.external_id).or_insert(merged.len());
        let Some(known) = merged.get_mut(index) else {
            merged.push(lot.clone());
            continue;
        };
        let quantity = known.quantity.billionths() + lot.quantity.billionths();
        *known = HoldingDraft {
            security: lot.security.clone(),
            quantity: Fixed9::from_billionths(quantity),
            cost_basis_minor: both(known.cost_basis_minor, lot.cost_basis_minor),
            institution_value_minor: both(
                known.institution_value_minor,
                lot.institution_value_minor,
            ),
        };
    }
    merged
}

fn save_security(
    tx: &mut Tx<'_>,
    batch: &mut Batch,
    position: &HoldingDraft,
    changes: &mut u64,
) -> Result<SecurityId> {
    let security = &position.security;
    let text = |it: Option<Fixed9>| it.map(|it| it.to_string());
    let (price, previous_close) = (text(security.price), text(security.previous_close));
    let key = params![batch.user, batch.connection, &security.external_id];
    let known: Option<(SecurityId, Option<InstrumentKey>)> = tx.first(SECURITY, key, read_known)?;
    let (known, before) = known.map_or((None, None), |(id, key)| (Some(id), key));
    let id = known.unwrap_or_else(|| batch.app.ids.make::<kinds::Security>());
    match known {
        Some(id) => batch.journal.record(tx, batch.user, RowKey::Security(id))?,
        None => batch.journal.record_new(RowKey::Security(id)),
    }
    let changed = tx.execute(
        SAVE_SECURITY,
        params![
            batch.user,
            id,
            batch.connection,
            &security.external_id,
            &security.symbol,
            &security.name,
            security.kind.as_str(),
            security.asset_class.as_str(),
            security.currency.code(),
            &price,
            &previous_close,
            security.priced_at,
            batch.now
        ],
    )?;
    if changed == 0 {
        batch.journal.discard(RowKey::Security(id));
    } else {
        let (symbol, currency) = (security.symbol.as_deref(), security.currency);
        let after = InstrumentKey::new(symbol, currency, security.kind);
        instruments::register_security(&batch.app, tx, batch.user, id, (before, after))?;
    }
    *changes += changed;
    Ok(id)
}

fn read_known(row: &db::Row<'_>) -> db::Result<(SecurityId, Option<InstrumentKey>)> {
    let kind = row.word(3, "security kind", SecurityKind::parse)?;
    Ok((row.get(0)?, InstrumentKey::new(row.get(1)?, row.get(2)?, kind)))
}

// Writes only changes, so that an event means a change. Both engines know `is distinct from`.
const SAVE_SECURITY: &str =
    "insert into securities (user_id, id, connection_id, external_id, symbol, name, kind,
    asset_class, currency, price, previous_close, priced_at, updated_at)
    values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
    on conflict (user_id, connection_id, external_id) do update
    set symbol = excluded.symbol, name = excluded.name, kind = excluded.kind,
        asset_class = excluded.asset_class, price = excluded.price,
        previous_close = excluded.previous_close, priced_at = excluded.priced_at,
        updated_at = excluded.updated_at
    where securities.price is distinct from excluded.price
        or securities.previous_close is distinct from excluded.previous_close
        or securities.symbol is distinct from excluded.symbol
        or securities.name is distinct from excluded.name
        or securities.kind is distinct from excluded.kind
        or securities.asset_class is distinct from excluded.asset_class
        or securities.priced_at is distinct from excluded.priced_at";
const SECURITY: &str = "select id, symbol, currency, kind from securities
    where user_id = $1 and connection_id = $2 and external_id = $3";
const SAVE_HOLDING: &str = "insert into holdings (user_id, account_id, security_id, id, quantity,
    cost_basis_minor, institution_value_minor, updated_at)
    values ($1, $2, $3, $4, $5, $6, $7, $8)
    on conflict (user_id, account_id, security_id) do update
    set quantity = excluded.quantity, cost_basis_minor = excluded.cost_basis_minor,
        institution_value_minor = excluded.institution_value_minor, updated_at = excluded.updated_at
    where holdings.quantity is distinct from excluded.quantity
        or holdings.cost_basis_minor is distinct from excluded.cost_basis_minor
        or holdings.institution_value_minor is distinct from excluded.institution_value_minor";
const STORED: &str = "select security_id from holdings where user_id = $1 and account_id = $2";
const DELETE: &str =
    "delete from holdings where user_id = $1 and account_id = $2 and security_id = $3";

pub(super) const STATEMENTS: &[&str] = &[SAVE_SECURITY, SECURITY, SAVE_HOLDING, STORED, DELETE];
