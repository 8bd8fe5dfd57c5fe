//! Moves between accounts, as they are stored, and what the person said of them.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use base::TransactionId;
use calc::transfers::{Decided, EARLIEST_LAG, Found, LATEST_LAG, Pair};
use db::{Tx, params};

use super::Concerned;
use super::view::View;
use crate::Result;
use crate::classify::recompute::{Recompute, RecomputeScope};

pub(super) fn decided(tx: &mut Tx<'_>, run: &Recompute) -> Result<Decided> {
    let confirmed = decisions(tx, run, "confirmed")?;
    Ok(Decided { confirmed, refused: decisions(tx, run, "refused")?, ..Decided::default() })
}

type Pairs = BTreeSet<(TransactionId, TransactionId)>;

fn decisions(tx: &mut Tx<'_>, run: &Recompute, decision: &str) -> Result<Pairs> {
    let read = |row: &db::Row<'_>| Ok((row.get(0)?, row.get(1)?));
    Ok(tx.all(DECISIONS, params![run.user, decision], read)?.into_iter().collect())
}

pub(super) fn save(
    tx: &mut Tx<'_>,
    run: &Recompute,
    view: &View,
    found: &Found,
    concerned: &Concerned,
) -> Result<()> {
    type Key = (TransactionId, TransactionId);
    let mine = |key: &Key| concerned.has(key.0) || concerned.has(key.1);
    let mut wanted: BTreeMap<Key, (&'static str, &Pair)> = BTreeMap::new();
    for (state, pairs) in [("paired", &found.pairs), ("suggested", &found.suggestions)] {
        for it in pairs {
            wanted.insert((it.outflow, it.inflow), (state, it));
        }
    }
    wanted.retain(|key, _| mine(key));
    // A pair is kept by the day its money left, which lies near both legs, also when they are gone.
    let is_everything = matches!(run.scope, RecomputeScope::Everything);
    let first = concerned.first_days.saturating_sub(LATEST_LAG);
    let last = concerned.last_days.saturating_sub(EARLIEST_LAG);
    let stored = tx.all(PAIRS, params![run.user, first, last], |row| {
        let words: (String, String, String) = (row.get(2)?, row.get(3)?, row.get(4)?);
        Ok(((row.get(0)?, row.get(1)?), words, row.get::<i64>(5)?))
    })?;
    let keys = || wanted.keys().chain(stored.iter().map(|it| &it.0));
    let named: HashSet<TransactionId> = keys().flat_map(|it| [it.0, it.1]).collect();
    let legs = view.rows.iter().filter(|it| named.contains(&it.id));
    let days: HashMap<TransactionId, i64> = legs.map(|it| (it.id, it.on_days)).collect();
    for (key, (state, kind, evidence), left_on) in stored {
        let same = wanted.get(&key).is_some_and(|(wanted_state, it)| {
            *wanted_state == state
                && it.kind.as_str() == kind
                && reasons(it) == evidence
                && days.get(&key.0) == Some(&left_on)
        });
        // A leg that is not among the rows was taken back.
        let is_gone = !days.contains_key(&key.0) || !days.contains_key(&key.1);
        if same {
            wanted.remove(&key);
        } else if is_everything || is_gone || mine(&key) {
            tx.execute(FORGET_PAIR, params![run.user, key.0, key.1])?;
        }
    }
    for ((outflow, inflow), (state, it)) in wanted {
        let (kind, reasons) = (it.kind.as_str(), reasons(it));
        let left_on = days.get(&outflow).copied().unwrap_or_default();
        let values = params![run.user, outflow, inflow, left_on, state, kind, &reasons, run.now];
        tx.execute(SAVE_PAIR, values)?;
    }
    Ok(())
}

/// Why the two belong together, one reason a line.
fn reasons(pair: &Pair) -> String {
    let lines: Vec<String> = pair.evidence.iter().map(|it| it.text()).collect();
    lines.join("\n")
}

const PAIRS: &str = "select outflow_id, inflow_id, state, kind, evidence, left_on from transfers
    where user_id = $1 and left_on between $2 and $3";
const FORGET_PAIR: &str =
    "delete from transfers where user_id = $1 and outflow_id = $2 and inflow_id = $3";
const SAVE_PAIR: &str =
    "insert into transfers (user_id, outflow_id, inflow_id, left_on, state, kind, evidence, found_at)
    values ($1, $2, $3, $4, $5, $6, $7, $8) on conflict (user_id, outflow_id, inflow_id) do update set
    left_on = excluded.left_on, state = excluded.state, kind = excluded.kind, evidence = excluded.evidence,
    found_at = excluded.found_at";
const DECISIONS: &str =
    "select outflow_id, inflow_id from transfer_decisions where user_id = $1 and decision = $2";

pub(super) const STATEMENTS: &[&str] = &[PAIRS, FORGET_PAIR, SAVE_PAIR, DECISIONS];
