//! From rows to a world: balances, noise, what is in view, and links that hold.

use std::collections::BTreeMap;

use base::draft::{AccountKind, BalanceDraft, TransactionDraft};
use base::{Money, Timestamp, date_from_days};

use super::noise::spoil;
use super::rng::Rng;
use super::stage::{Row, Stage};
use super::{Labelled, Noise, Stream, World};

pub(super) fn finish(mut stage: Stage) -> World {
    let mut rows = stage.rows.clone();
    rows.retain(|it| (stage.first..=stage.last).contains(&it.on));
    // Balances are the bank's own, and so know what was never delivered.
    set_balances(&mut stage, &rows);
    let mut rows = spoil(&stage, rows);
    rows.retain(|it| (stage.first..=stage.last).contains(&it.on));
    rows.sort_by_key(|it| (it.on, it.account, it.origin, it.id));
    mend_links(&mut rows);
    count_occurrences(&mut stage.streams, &rows);
    let currency = stage.accounts[0].draft.currency;
    let transactions = rows.into_iter().map(|row| labelled(row, currency)).collect();
    World {
        region: stage.region,
        since: date_from_days(stage.first),
        as_of: date_from_days(stage.last),
        accounts: stage.accounts.into_iter().map(|it| it.draft).collect(),
        transactions,
        streams: stage.streams,
    }
}

/// Opens each account so that its lowest day hits a target, which for a few is below zero.
fn set_balances(stage: &mut Stage, rows: &[Row]) {
    let mut by_day: BTreeMap<(usize, i64), i64> = BTreeMap::new();
    for row in rows.iter().filter(|it| !it.pending) {
        *by_day.entry((row.account, row.on)).or_default() += row.minor;
    }
    let Ok(as_of) = Timestamp::from_second(stage.last * 86_400 + 43_200) else { return };
    for (index, held) in stage.accounts.iter_mut().enumerate() {
        let name = format!("balance {}", held.draft.external_id);
        let mut rng = Rng::named(stage.seed, &name);
        let (mut sum, mut lowest, mut highest) = (0, 0, 0);
        for (_, net) in by_day.range((index, i64::MIN)..(index + 1, i64::MIN)) {
            sum += net;
            lowest = lowest.min(sum);
            highest = highest.max(sum);
        }
        let target =
            if rng.chance(10) { -rng.lognormal(8_000, 500) } else { rng.lognormal(60_000, 900) };
        let principal = rng.lognormal(20_000_000, 400);
        // A debt is counted the other way round, and is never less than nothing.
        let current_minor = match held.draft.kind {
            AccountKind::Loan => principal + highest - sum,
            AccountKind::Credit => highest - sum,
            _ => sum - lowest + target,
        };
        held.draft.balance =
            Some(BalanceDraft { as_of, current_minor, available_minor: None, limit_minor: None });
    }
}

/// A leg whose other leg is not here is no pair, and a refund of what is not here has no origin.
fn mend_links(rows: &mut [Row]) {
    let mut legs: BTreeMap<u32, usize> = BTreeMap::new();
    for pair in rows.iter().filter_map(|it| it.truth.pair) {
        *legs.entry(pair).or_default() += 1;
    }
    let places: BTreeMap<u32, u32> = rows.iter().map(|it| it.id).zip(0..).collect();
    for row in rows {
        if row.truth.pair.is_some_and(|pair| legs[&pair] < 2) {
            row.truth.pair = None;
            row.tag(Noise::OtherLegMissing);
        }
        row.truth.refund_of = row.truth.refund_of.and_then(|id| places.get(&id).copied());
    }
}

fn count_occurrences(streams: &mut [Stream], rows: &[Row]) {
    let once = rows.iter().filter(|it| !it.truth.noise.contains(&Noise::Duplicate));
    for stream in once.filter_map(|it| it.truth.stream) {
        streams[stream as usize].occurrences += 1;
    }
    for stream in streams {
        stream.short = stream.occurrences < stream.cadence.least_occurrences();
    }
}

fn labelled(row: Row, currency: base::Currency) -> Labelled {
    let draft = TransactionDraft {
        external_id: None,
        pending: row.pending,
        settles: None,
        posted_on: date_from_days(row.on),
        authorized_on: row.authorized.map(date_from_days),
        amount: Money::new(row.minor, currency),
        description: row.text,
        counterparty: None,
        counterparty_logo_url: None,
        category: None,
    };
    Labelled { account: row.account, draft, truth: row.truth }
}
