//! Noise that banks and connectors add to rows. Each row has its own random numbers, so that none affects another.

use super::Noise;
use super::builder::{HouseholdBuilder, Row};
use super::rng::Rng;

impl Row {
    /// Whether the row has no counterpart. Rows with one get no noise that would affect the other.
    fn has_no_counterpart(&self) -> bool {
        self.truth.pair.is_none() && self.truth.refund_of.is_none() && !self.pending
    }

    /// Whether the row is a single purchase from a merchant: no contract, no transfer to a person, no cash.
    fn is_purchase(&self) -> bool {
        let sent = self.truth.category.primary().starts_with("TRANSFER");
        self.minor < 0 && self.truth.stream.is_none() && !sent
    }
}

/// The rows as they are delivered. Ids of new rows follow the last existing one.
pub(super) fn apply_noise(builder: &HouseholdBuilder, rows: Vec<Row>) -> Vec<Row> {
    let gaps: Vec<Vec<(i64, i64)>> =
        (0..builder.accounts.len()).map(|account| gaps(builder, account)).collect();
    let mut next_id = builder.rows.len() as u32;
    let mut noisy = Vec::with_capacity(rows.len());
    for mut row in rows {
        let (entity, nth, ordinal) = row.origin;
        let mut rng = Rng::named(builder.seed, &format!("noise {entity} {nth} {ordinal}"));
        let noise_rates = builder.profile.noise_rates;
        let hits = [
            noise_rates.duplicates,
            noise_rates.reversals,
            noise_rates.broken_keys,
            noise_rates.days_off,
        ]
        .map(|share| rng.per_mille(share));
        let [duplicated, reversed, broken, off] = hits;
        let lost = gaps[row.account].iter().any(|(from, to)| (*from..=*to).contains(&row.on));
        if lost {
            continue;
        }
        if broken {
            break_key(&mut row, &mut rng);
        }
        if off {
            move_a_day(builder, &mut row, &mut rng);
        }
        let recent = row.on >= builder.last - 2;
        if recent && row.has_no_counterpart() && row.is_purchase() && rng.chance(60) {
            row.pending = true;
        }
        if duplicated && row.has_no_counterpart() {
            let mut copy = row.clone();
            copy.id = next_id;
            copy.tag(Noise::Duplicate);
            noisy.push(copy);
            next_id += 1;
        } else if reversed && row.has_no_counterpart() && row.is_purchase() {
            noisy.push(reversal(&mut row, next_id, &mut rng));
            next_id += 1;
        }
        noisy.push(row);
    }
    noisy
}

/// The days that a connector never delivered for one account.
fn gaps(builder: &HouseholdBuilder, account: usize) -> Vec<(i64, i64)> {
    let name = &builder.accounts[account].draft.external_id;
    let mut rng = Rng::named(builder.seed, &format!("gaps {name}"));
    (0..builder.profile.noise_rates.gaps)
        .map(|_| {
            let from = rng.between(builder.first, builder.last);
            (from, from + rng.between(2, 7))
        })
        .collect()
}

fn break_key(row: &mut Row, rng: &mut Rng) {
    row.text = match rng.between(0, 3) {
        0 => format!("CARD PURCHASE {}", rng.between(100_000, 999_999)),
        1 => format!("PAYPAL *{:X}", rng.between(0x1000_0000, 0xffff_ffff)),
        // The text cut off after seven characters, or without spaces.
        2 => row.text.chars().take(7).collect(),
        _ => row.text.split_whitespace().collect(),
    };
    row.tag(Noise::BrokenKey);
    if row.truth.transfer.is_some() && !row.truth.noise.contains(&Noise::NoHint) {
        row.tag(Noise::NoHint);
    }
}

fn move_a_day(builder: &HouseholdBuilder, row: &mut Row, rng: &mut Rng) {
    let moved = row.on + if rng.chance(50) { 1 } else { -1 };
    if (builder.first..=builder.last).contains(&moved) {
        row.on = moved;
        row.tag(Noise::DayOff);
    }
}

fn reversal(row: &mut Row, id: u32, rng: &mut Rng) -> Row {
    row.tag(Noise::Reversed);
    let mut back = row.clone();
    back.id = id;
    back.minor = -row.minor;
    back.on += rng.between(0, 4);
    back.authorized = None;
    back.truth.refund_of = Some(row.id);
    back
}
