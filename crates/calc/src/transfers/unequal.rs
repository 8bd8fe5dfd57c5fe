//! Finds candidates whose amounts differ: by a fee, or by a currency exchange.

use std::collections::BTreeSet;

use base::Currency;

use super::candidates::{Basis, CROWD, Search};
use super::{Convert, EARLIEST_LAG, LATEST_LAG, Leg};

const MOST_FEE_MINOR: u64 = 500;
/// A fee may be at most one percent, and an exchange spread two percent.
const FEE_PART: u64 = 100;
const SPREAD_PART: u64 = 50;

/// Sorted so that inflows of a day within a range of amounts are adjacent.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Arrival {
    currency: Currency,
    day: i64,
    magnitude: u64,
    leg: usize,
}

impl Search<'_> {
    /// Similar amounts often agree by chance, so both texts must mention a transfer.
    pub(super) fn unequal(&mut self, convert: &Convert) {
        let arrivals = self.arrivals();
        let currencies: BTreeSet<Currency> = arrivals.iter().map(|it| it.currency).collect();
        let amounts: BTreeSet<(Currency, u64)> =
            arrivals.iter().map(|it| (it.currency, it.magnitude)).collect();
        let legs = self.legs;
        for (outflow, sent) in legs.iter().enumerate() {
            if sent.amount_minor >= 0 {
                continue;
            }
            for currency in &currencies {
                let Some((least, most)) = arriving(sent, *currency, convert) else { continue };
                // Most outflows are not similar to any inflow.
                if amounts.range((*currency, least)..=(*currency, most)).next().is_none() {
                    continue;
                }
                let is_same = *currency == sent.currency;
                let basis = if is_same { Basis::Fee } else { Basis::Exchange };
                let mut near = near(&arrivals, *currency, self.days[outflow]);
                while let Some(next) = near.first() {
                    let (of_day, later) =
                        near.split_at(near.partition_point(|it| it.day <= next.day));
                    near = later;
                    let start = of_day.partition_point(|it| it.magnitude < least);
                    let end = of_day.partition_point(|it| it.magnitude <= most);
                    // The text is read last, and usually not at all.
                    let is_few = (1..=CROWD).contains(&(start..end).len());
                    if is_few && self.is_worded(outflow) {
                        for arrival in &of_day[start..end] {
                            self.consider(outflow, arrival.leg, basis, || false);
                        }
                    }
                }
            }
        }
    }

    fn arrivals(&self) -> Vec<Arrival> {
        let mut arrivals: Vec<Arrival> = Vec::new();
        for (leg, it) in self.legs.iter().enumerate() {
            if it.amount_minor > 0 && self.is_worded(leg) {
                let (day, magnitude) = (self.days[leg], it.amount_minor.unsigned_abs());
                arrivals.push(Arrival { currency: it.currency, day, magnitude, leg });
            }
        }
        arrivals.sort_unstable();
        arrivals
    }

    fn is_worded(&self, leg: usize) -> bool {
        self.owners[leg].is_some() && self.leg_text(leg).words.transfer
    }
}

/// The inflows in a currency on the days on which an outflow's other leg may be.
fn near(arrivals: &[Arrival], currency: Currency, left_day: i64) -> &[Arrival] {
    let (first, last) = (left_day + EARLIEST_LAG, left_day + LATEST_LAG);
    let start = arrivals.partition_point(|it| (it.currency, it.day) < (currency, first));
    let end = arrivals.partition_point(|it| (it.currency, it.day) <= (currency, last));
    &arrivals[start..end]
}

/// The least and the most that may arrive in a currency for the sent amount, if not all of it arrives.
fn arriving(sent: &Leg, currency: Currency, convert: &Convert) -> Option<(u64, u64)> {
    let magnitude = sent.amount_minor.unsigned_abs();
    if currency == sent.currency {
        let most_fee = MOST_FEE_MINOR.max(magnitude / FEE_PART);
        return Some((magnitude.saturating_sub(most_fee), magnitude - 1));
    }
    let minor = i64::try_from(magnitude).ok()?;
    let worth = u64::try_from(convert(minor, sent.currency, currency, sent.on)?).ok()?;
    let spread = worth / SPREAD_PART;
    Some((worth - spread, worth + spread))
}
