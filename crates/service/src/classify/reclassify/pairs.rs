//! Transfer pairs as they are stored, and the person's decisions on them.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use base::TransactionId;
use calc::transfers::{
    EARLIEST_LAG, LATEST_LAG, Pair, PairingResult, TransferKind, TransferOverrides,
};
use db::{Tx, params};

use super::AffectedRows;
use super::rows::LoadedRows;
use crate::Result;
use crate::classify::recompute::{Recompute, RecomputeScope};

base::words!(
    /// How certain a pair is. Lists show paired ones first, which is the alphabetical order of the stored words.
    PairState { Paired => "paired", Suggested => "suggested" }
);
base::words!(PairDecision { Confirmed => "confirmed", Refused => "refused" });
db::word_columns!(PairState, PairDecision);

/// The ids of the outflow and the inflow.
type PairKey = (TransactionId, TransactionId);

/// The person's decisions on pairs.
pub(super) fn decisions(tx: &mut Tx<'_>, run: &Recompute) -> Result<TransferOverrides> {
    let confirmed = decided(tx, run, PairDecision::Confirmed)?;
    let refused = decided(tx, run, PairDecision::Refused)?;
    Ok(TransferOverrides { confirmed, refused, ..TransferOverrides::default() })
}

fn decided(tx: &mut Tx<'_>, run: &Recompute, decision: PairDecision) -> Result<BTreeSet<PairKey>> {
    let read = |row: &db::Row<'_>| Ok((row.get(0)?, row.get(1)?));
    Ok(tx.all(DECISIONS, params![run.user, decision.as_str()], read)?.into_iter().collect())
}

/// Stores the pairs that were found among the affected rows, and deletes stored ones that were not found again.
pub(super) fn save(
    tx: &mut Tx<'_>,
    run: &Recompute,
    loaded: &LoadedRows,
    found: &PairingResult,
    affected: &AffectedRows,
) -> Result<()> {
    let is_affected = |key: &PairKey| affected.has(key.0) || affected.has(key.1);
    let mut new: BTreeMap<PairKey, (PairState, &Pair)> = BTreeMap::new();
    for (state, pairs) in
        [(PairState::Paired, &found.pairs), (PairState::Suggested, &found.suggestions)]
    {
        new.extend(pairs.iter().map(|it| ((it.outflow, it.inflow), (state, it))));
    }
    new.retain(|key, _| is_affected(key));
    // `left_on` is the day of the outflow, which lies near both legs, so that pairs are found even if a leg is gone.
    let is_everything = matches!(run.scope, RecomputeScope::Everything);
    let first = affected.first_days.saturating_sub(LATEST_LAG);
    let last = affected.last_days.saturating_sub(EARLIEST_LAG);
    let stored = tx.all(PAIRS, params![run.user, first, last], |row| {
        let kind = row.word(3, "transfer kind", TransferKind::parse)?;
        let values: (PairState, TransferKind, String) = (row.get(2)?, kind, row.get(4)?);
        Ok(((row.get(0)?, row.get(1)?), values, row.get::<i64>(5)?))
    })?;
    let keys = || new.keys().chain(stored.iter().map(|it| &it.0));
    let legs: HashSet<TransactionId> = keys().flat_map(|it| [it.0, it.1]).collect();
    let legs = loaded.rows.iter().filter(|it| legs.contains(&it.id));
    let days: HashMap<TransactionId, i64> = legs.map(|it| (it.id, it.on_days)).collect();
    for (key, (state, kind, evidence), left_on) in stored {
        let is_same = new.get(&key).is_some_and(|(new_state, it)| {
            *new_state == state
                && it.kind == kind
                && evidence_text(it) == evidence
                && days.get(&key.0) == Some(&left_on)
        });
        // A leg that was not loaded has been removed.
        let is_gone = !days.contains_key(&key.0) || !days.contains_key(&key.1);
        if is_same {
            new.remove(&key);
        } else if is_everything || is_gone || is_affected(&key) {
            tx.execute(DELETE_PAIR, params![run.user, key.0, key.1])?;
        }
    }
    for ((outflow, inflow), (state, it)) in new {
        let (state, kind, evidence) = (state.as_str(), it.kind.as_str(), evidence_text(it));
        let left_on = days.get(&outflow).copied().unwrap_or_default();
        let values = params![run.user, outflow, inflow, left_on, state, kind, &evidence, run.now];
        tx.execute(SAVE_PAIR, values)?;
    }
    Ok(())
}

/// Reasons for pairing the two, one a line.
fn evidence_text(pair: &Pair) -> String {
    let lines: Vec<String> = pair.evidence.iter().map(|it| it.text()).collect();
    lines.join("\n")
}

const PAIRS: &str = "select outflow_id, inflow_id, state, kind, evidence, left_on from transfers
    where user_id = $1 and left_on between $2 and $3";
const DELETE_PAIR: &str =
    "delete from transfers where user_id = $1 and outflow_id = $2 and inflow_id = $3";
const SAVE_PAIR: &str =
    "insert into transfers (user_id, outflow_id, inflow_id, left_on, state, kind, evidence, found_at)
    values ($1, $2, $3, $4, $5, $6, $7, $8) on conflict (user_id, outflow_id, inflow_id) do update set
    left_on = excluded.left_on, state = excluded.state, kind = excluded.kind, evidence = excluded.evidence,
    found_at = excluded.found_at";
const DECISIONS: &str =
    "select outflow_id, inflow_id from transfer_decisions where user_id = $1 and decision = $2";

pub(super) const STATEMENTS: &[&str] = &[PAIRS, DELETE_PAIR, SAVE_PAIR, DECISIONS];
