//! What banks and connectors do to good rows. Every row has its own chance, so none moves another.

use super::Noise;
use super::rng::Rng;
use super::stage::{Row, Stage};

impl Row {
    /// Noise is not piled on rows whose labels say that they have a counterpart.
    fn stands_alone(&self) -> bool {
        self.truth.pair.is_none() && self.truth.refund_of.is_none() && !self.pending
    }

    /// Bought once, of a merchant: neither by contract, nor sent to a person, nor drawn as cash.
    fn is_purchase(&self) -> bool {
        let sent = self.truth.category.primary().starts_with("TRANSFER");
        self.minor < 0 && self.truth.stream.is_none() && !sent
    }
}

/// Rows as they are delivered. Ids of new ones go on after the last.
pub(super) fn spoil(stage: &Stage, rows: Vec<Row>) -> Vec<Row> {
    let gaps: Vec<Vec<(i64, i64)>> =
        (0..stage.accounts.len()).map(|account| gaps(stage, account)).collect();
    let mut next_id = stage.rows.len() as u32;
    let mut spoiled = Vec::with_capacity(rows.len());
    for mut row in rows {
        let (entity, nth, ordinal) = row.origin;
        let mut rng = Rng::named(stage.seed, &format!("noise {entity} {nth} {ordinal}"));
        let mess = stage.profile.mess;
        let hits = [mess.duplicates, mess.reversals, mess.broken_keys, mess.days_off]
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
            move_a_day(stage, &mut row, &mut rng);
        }
        let recent = row.on >= stage.last - 2;
        if recent && row.stands_alone() && row.is_purchase() && rng.chance(60) {
            row.pending = true;
        }
        if duplicated && row.stands_alone() {
            let mut copy = row.clone();
            copy.id = next_id;
            copy.tag(Noise::Duplicate);
            spoiled.push(copy);
            next_id += 1;
        } else if reversed && row.stands_alone() && row.is_purchase() {
            spoiled.push(reversal(&mut row, next_id, &mut rng));
            next_id += 1;
        }
        spoiled.push(row);
    }
    spoiled
}

/// The days that a connector never delivered for one account.
fn gaps(stage: &Stage, account: usize) -> Vec<(i64, i64)> {
    let name = &stage.accounts[account].draft.external_id;
    let mut rng = Rng::named(stage.seed, &format!("gaps {name}"));
    (0..stage.profile.mess.gaps)
        .map(|_| {
            let from = rng.between(stage.first, stage.last);
            (from, from + rng.between(2, 7))
        })
        .collect()
}

fn break_key(row: &mut Row, rng: &mut Rng) {
    row.text = match rng.between(0, 3) {
        0 => format!("CARD PURCHASE {}", rng.between(100_000, 999_999)),
        1 => format!("PAYPAL *{:X}", rng.between(0x1000_0000, 0xffff_ffff)),
        // Only the front of a field that was too long, or all of it without a blank.
        2 => row.text.chars().take(7).collect(),
        _ => row.text.split_whitespace().collect(),
    };
    row.tag(Noise::BrokenKey);
    if row.truth.transfer.is_some() && !row.truth.noise.contains(&Noise::NoHint) {
        row.tag(Noise::NoHint);
    }
}

fn move_a_day(stage: &Stage, row: &mut Row, rng: &mut Rng) {
    let moved = row.on + if rng.chance(50) { 1 } else { -1 };
    if (stage.first..=stage.last).contains(&moved) {
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
