//! Turns rows into a world: sets balances, applies noise, cuts to the window, and drops broken links.

use std::collections::BTreeMap;

use base::draft::{AccountKind, BalanceDraft, TransactionDraft};
use base::{Money, Timestamp, date_from_days};

use super::builder::{HouseholdBuilder, Row};
use super::noise::apply_noise;
use super::rng::Rng;
use super::{LabeledTransaction, Noise, Stream, World};

pub(super) fn finish(mut builder: HouseholdBuilder) -> World {
    let mut rows = builder.rows.clone();
    rows.retain(|it| (builder.first..=builder.last).contains(&it.on));
    // Balances come from the bank, so they include rows that were never delivered.
    set_balances(&mut builder, &rows);
    let mut rows = apply_noise(&builder, rows);
    rows.retain(|it| (builder.first..=builder.last).contains(&it.on));
    rows.sort_by_key(|it| (it.on, it.account, it.origin, it.id));
    drop_broken_links(&mut rows);
    count_occurrences(&mut builder.streams, &rows);
    let currency = builder.accounts[0].draft.currency;
    let transactions = rows.into_iter().map(|row| labeled(row, currency)).collect();
    World {
        region: builder.region,
        since: date_from_days(builder.first),
        as_of: date_from_days(builder.last),
        accounts: builder.accounts.into_iter().map(|it| it.draft).collect(),
        transactions,
        streams: builder.streams,
    }
}

/// Sets the balance of each account so that its lowest day hits a target, which for some is below zero.
fn set_balances(builder: &mut HouseholdBuilder, rows: &[Row]) {
    let mut by_day: BTreeMap<(usize, i64), i64> = BTreeMap::new();
    for row in rows.iter().filter(|it| !it.pending) {
        *by_day.entry((row.account, row.on)).or_default() += row.minor;
    }
    let Ok(as_of) = Timestamp::from_second(builder.last * 86_400 + 43_200) else { return };
    for (index, account) in builder.accounts.iter_mut().enumerate() {
        let name = format!("balance {}", account.draft.external_id);
        let mut rng = Rng::named(builder.seed, &name);
        let (mut sum, mut lowest, mut highest) = (0, 0, 0);
        for (_, net) in by_day.range((index, i64::MIN)..(index + 1, i64::MIN)) {
            sum += net;
            lowest = lowest.min(sum);
            highest = highest.max(sum);
        }
        let target =
            if rng.chance(10) { -rng.lognormal(8_000, 500) } else { rng.lognormal(60_000, 900) };
        let principal = rng.lognormal(20_000_000, 400);
        // A debt has the opposite sign and is never negative.
        let current_minor = match account.draft.kind {
            AccountKind::Loan => principal + highest - sum,
            AccountKind::Credit => highest - sum,
            _ => sum - lowest + target,
        };
        account.draft.balance =
            Some(BalanceDraft { as_of, current_minor, available_minor: None, limit_minor: None });
    }
}

/// Removes the pair number of legs whose other leg is missing, and the origin of refunds whose origin is missing.
fn drop_broken_links(rows: &mut [Row]) {
    let mut legs: BTreeMap<u32, usize> = BTreeMap::new();
    for pair in rows.iter().filter_map(|it| it.truth.pair) {
        *legs.entry(pair).or_default() += 1;
    }
    let indices: BTreeMap<u32, u32> = rows.iter().map(|it| it.id).zip(0..).collect();
    for row in rows {
        if row.truth.pair.is_some_and(|pair| legs[&pair] < 2) {
            row.truth.pair = None;
            row.tag(Noise::OtherLegMissing);
        }
        row.truth.refund_of = row.truth.refund_of.and_then(|id| indices.get(&id).copied());
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

fn labeled(row: Row, currency: base::Currency) -> LabeledTransaction {
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
    LabeledTransaction { account: row.account, draft, truth: row.truth }
}
