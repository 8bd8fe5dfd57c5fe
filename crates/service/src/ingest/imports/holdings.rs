//! Positions of an import: the account's list is replaced, and each security keeps its id.

use std::collections::{BTreeMap, BTreeSet};

use base::draft::HoldingDraft;
use base::{Fixed9, SecurityId, kinds};
use db::{Tx, params};
use wire::json::Moment;
use wire::v1::Event;

use super::Batch;
use super::accounts::Saved;
use super::journal::Place;
use crate::Result;

pub(super) fn save(
    tx: &mut Tx<'_>,
    batch: &mut Batch,
    saved: &Saved,
    positions: &[HoldingDraft],
) -> Result<()> {
    let (mut touched, account) = (0, saved.id);
    let held = tx.all(HELD, params![batch.user, account], |row| row.get(0))?;
    let mut gone: BTreeSet<SecurityId> = held.into_iter().collect();
    for position in &added_up(positions) {
        let security = save_security(tx, batch, position, &mut touched)?;
        gone.remove(&security);
        batch.keep(tx, saved, Place::Holding(account, security))?;
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
        touched += changed;
        if changed == 0 {
            batch.journal.forget(Place::Holding(account, security));
        } else {
            // A batch that is taken back takes its securities along unless a later one has a use for them.
            batch.journal.keep(tx, batch.user, Place::Security(security))?;
        }
    }
    // What the source no longer lists is gone.
    for security in gone {
        batch.keep(tx, saved, Place::Holding(account, security))?;
        batch.journal.keep(tx, batch.user, Place::Security(security))?;
        touched += tx.execute(DROP_GONE, params![batch.user, account, security])?;
    }
    if touched > 0 {
        batch.changed.insert(account);
        let account_id = account.to_string();
        batch.events.push(Event::InvestmentsUpdated { account_id, as_of: Moment(batch.now) });
    }
    Ok(())
}

/// Sources may list a security once for each lot; we keep it once an account. A part whose cost or worth is unknown
/// makes the whole's unknown.
fn added_up(positions: &[HoldingDraft]) -> Vec<HoldingDraft> {
    let both = |a: Option<i64>, b: Option<i64>| a?.checked_add(b?);
    let mut whole: Vec<HoldingDraft> = Vec::with_capacity(positions.len());
    // A hostile file lists so many that looking through them for each one would hold up all writing.
    let mut places: BTreeMap<&str, usize> = BTreeMap::new();
    for lot in positions {
        let place = *places.entry(&lot.security.external_id).or_insert(whole.len());
        let Some(known) = whole.get_mut(place) else {
            whole.push(lot.clone());
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
    whole
}

fn save_security(
    tx: &mut Tx<'_>,
    batch: &mut Batch,
    position: &HoldingDraft,
    touched: &mut u64,
) -> Result<SecurityId> {
    let security = &position.security;
    let text = |it: Option<Fixed9>| it.map(|it| it.to_string());
    let (price, previous_close) = (text(security.price), text(security.previous_close));
    let key = params![batch.user, batch.connection, &security.external_id];
    let known: Option<SecurityId> = tx.first(SECURITY, key, |row| row.get(0))?;
    let id = known.unwrap_or_else(|| batch.app.ids.make::<kinds::Security>());
    match known {
        Some(id) => batch.journal.keep(tx, batch.user, Place::Security(id))?,
        None => batch.journal.keep_new(Place::Security(id)),
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
        batch.journal.forget(Place::Security(id));
    }
    *touched += changed;
    Ok(id)
}

// Nothing is touched when nothing changed, so that an event means a change. `is distinct from` is known to both.
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
const SECURITY: &str = "select id from securities
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
const HELD: &str = "select security_id from holdings where user_id = $1 and account_id = $2";
const DROP_GONE: &str =
    "delete from holdings where user_id = $1 and account_id = $2 and security_id = $3";

pub(super) const STATEMENTS: &[&str] = &[SAVE_SECURITY, SECURITY, SAVE_HOLDING, HELD, DROP_GONE];
