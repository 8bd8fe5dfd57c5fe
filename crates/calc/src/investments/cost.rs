//! The cost of a position from its trades: average cost, and the lots that are still open.

use std::collections::VecDeque;

use base::draft::TradeKind;
use base::{Date, Fixed9, divide_half_even};

/// A trade of one security in one account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trade {
    pub on: Date,
    pub kind: TradeKind,
    /// The units that were traded; for a split, the new units for `per` old ones. Negative undoes an earlier trade.
    pub quantity: Fixed9,
    pub per: Option<Fixed9>,
    /// The amount paid or received, fees included, with the sign of the quantity. None if unknown.
    pub amount_minor: Option<i64>,
}

/// Units that were bought together and are still held, the first bought being the first sold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lot {
    pub on: Date,
    pub quantity: Fixed9,
    pub cost_minor: i64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cost {
    /// By average cost: a sale releases its part of the cost of all units.
    pub average_minor: i64,
    /// Oldest first. Their costs add up to the average cost if nothing was sold.
    pub lots: Vec<Lot>,
}

/// How far, in billionths of a unit, trades may differ from the held quantity: splits leave fractions.
const ROUNDING: i128 = 1_000;
/// The cost of a position with more trades is not computed, because that would take too long.
const TRADES_MAX: usize = 20_000;

/// The cost of a position, if its trades explain all of it: their units add up to those held, and the cost of each is
/// known. The order of the trades does not matter; on one day units are received before they are given away.
pub fn cost(trades: &[Trade], held: Fixed9) -> Option<Cost> {
    if trades.len() > TRADES_MAX {
        return None;
    }
    let mut trades: Vec<&Trade> = trades.iter().collect();
    trades.sort_by_key(|it| (it.on, rank(it.kind), it.quantity, it.amount_minor));
    let mut book = Book::default();
    for trade in trades {
        book.add(trade)?;
    }
    let difference = book.quantity.checked_sub(held.billionths())?;
    let is_complete = held > Fixed9::ZERO && difference.abs() <= ROUNDING;
    is_complete.then_some(())?;
    let lot = |it: &OpenLot| {
        let cost_minor = i64::try_from(it.cost).ok()?;
        Some(Lot { on: it.on, quantity: Fixed9::from_billionths(it.quantity), cost_minor })
    };
    let lots: Option<Vec<Lot>> = book.lots.iter().map(lot).collect();
    Some(Cost { average_minor: i64::try_from(book.cost).ok()?, lots: lots? })
}

fn rank(kind: TradeKind) -> u8 {
    match kind {
        TradeKind::Split => 0,
        TradeKind::Buy | TradeKind::Reinvest | TradeKind::TransferIn => 1,
        TradeKind::ReturnOfCapital => 2,
        TradeKind::Sell | TradeKind::TransferOut => 3,
    }
}

/// Quantities in billionths, costs in minor units.
struct OpenLot {
    on: Date,
    quantity: i128,
    cost: i128,
}

#[derive(Default)]
struct Book {
    quantity: i128,
    cost: i128,
    lots: VecDeque<OpenLot>,
}

impl Book {
    /// None if the cost cannot be known after this trade.
    fn add(&mut self, trade: &Trade) -> Option<()> {
        let quantity = trade.quantity.billionths();
        let amount = trade.amount_minor.map(i128::from);
        match trade.kind {
            TradeKind::Buy | TradeKind::Reinvest if quantity > 0 => {
                let cost = amount.filter(|it| *it >= 0)?;
                self.quantity = self.quantity.checked_add(quantity)?;
                self.cost += cost;
                self.lots.push_back(OpenLot { on: trade.on, quantity, cost });
            }
            TradeKind::Buy | TradeKind::Reinvest => self.undo_purchase(quantity, amount?)?,
            TradeKind::Sell | TradeKind::TransferOut => self.release(quantity)?,
            TradeKind::Split => self.split(quantity, trade.per?.billionths())?,
            TradeKind::ReturnOfCapital => self.return_capital(amount?),
            // Units that came from elsewhere have a cost that only the other place knows.
            TradeKind::TransferIn => return None,
        }
        Some(())
    }

    /// Removes the lot of a purchase that was reversed.
    fn undo_purchase(&mut self, quantity: i128, amount: i128) -> Option<()> {
        let is_it = |it: &OpenLot| it.quantity == -quantity && it.cost == -amount;
        let at = self.lots.iter().rposition(is_it)?;
        let lot = self.lots.remove(at)?;
        self.quantity -= lot.quantity;
        self.cost -= lot.cost;
        Some(())
    }

    /// Gives units away. None if more are given than are held: then earlier trades are missing.
    fn release(&mut self, quantity: i128) -> Option<()> {
        if quantity < 0 || quantity > self.quantity {
            return None;
        }
        self.cost -= part(self.cost, quantity, self.quantity)?;
        self.quantity -= quantity;
        let mut left = quantity;
        while let Some(lot) = self.lots.front_mut().filter(|_| left > 0) {
            let taken = left.min(lot.quantity);
            lot.cost -= part(lot.cost, taken, lot.quantity)?;
            lot.quantity -= taken;
            left -= taken;
            if lot.quantity == 0 {
                self.lots.pop_front();
            }
        }
        Some(())
    }

    fn split(&mut self, new: i128, old: i128) -> Option<()> {
        if new <= 0 || old <= 0 {
            return None;
        }
        let scaled = |it: i128| it.checked_mul(new).map(|it| divide_half_even(it, old));
        for lot in &mut self.lots {
            lot.quantity = scaled(lot.quantity)?;
        }
        self.quantity = self.lots.iter().map(|it| it.quantity).sum();
        Some(())
    }

    /// Reduces the cost of every lot by its part of a payment, at most to zero.
    fn return_capital(&mut self, amount: i128) {
        let returned = amount.clamp(0, self.cost);
        self.cost -= returned;
        let whole: i128 = self.lots.iter().map(|it| it.cost).sum();
        for lot in &mut self.lots {
            lot.cost -= part(lot.cost, returned.min(whole), whole).unwrap_or(0);
        }
    }
}

/// The part of a cost that belongs to some of the units; all of it for the last unit.
fn part(cost: i128, quantity: i128, of: i128) -> Option<i128> {
    if quantity == of {
        return Some(cost);
    }
    Some(divide_half_even(cost.checked_mul(quantity)?, (of > 0).then_some(of)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::date_from_days;
    use proptest::prelude::*;

    fn fixed(text: &str) -> Fixed9 {
        Fixed9::parse(text).unwrap()
    }

    /// Trades such as "buy 10 1500.00" or "split 2 1", one a day.
    fn trades(lines: &[&str]) -> Vec<Trade> {
        let trade = |(day, line): (i64, &&str)| {
            let words: Vec<&str> = line.split(' ').collect();
            let kind = TradeKind::parse(words[0]).unwrap();
            let is_split = kind == TradeKind::Split;
            let minor = |it: &&str| fixed(it).times_price(fixed("1"), 2).unwrap();
            Trade {
                on: date_from_days(20_000 + day),
                kind,
                quantity: fixed(words[1]),
                per: is_split.then(|| fixed(words[2])),
                amount_minor: words.get(2).filter(|_| !is_split).map(minor),
            }
        };
        (0..).zip(lines).map(trade).collect()
    }

    fn average(lines: &[&str], held: &str) -> Option<i64> {
        cost(&trades(lines), fixed(held)).map(|it| it.average_minor)
    }

    #[test]
    fn the_cost_is_the_average_of_all_purchases() {
        assert_eq!(average(&["buy 10 1500.00"], "10"), Some(150_000));
        assert_eq!(
            average(&["buy 10 1500.00", "buy 5 1000.00", "sell 6 1500.00"], "9"),
            Some(150_000)
        );
        assert_eq!(average(&["buy 10 1500.00", "reinvest 0.25 50.00"], "10.25"), Some(155_000));
        assert_eq!(average(&["buy 10 1500.00", "split 2 1", "sell 5 500.00"], "15"), Some(112_500));
        assert_eq!(average(&["buy 10 1500.00", "split 1 3"], "3.333333333"), Some(150_000));
        assert_eq!(average(&["buy 10 1500.00", "return_of_capital 0 100.00"], "10"), Some(140_000));
        assert_eq!(average(&["buy 10 1500.00", "transfer_out 4"], "6"), Some(90_000));
        // A purchase, its reversal, and the right purchase.
        let reversed = ["buy 10 1500.00", "buy -10 -1500.00", "buy 10 1490.00"];
        assert_eq!(average(&reversed, "10"), Some(149_000));
    }

    #[test]
    fn the_cost_is_unknown_unless_the_trades_explain_the_position() {
        assert_eq!(average(&["buy 10 1500.00"], "11"), None);
        assert_eq!(average(&["buy 10 1500.00", "sell 11 1500.00", "buy 11 1.00"], "10"), None);
        assert_eq!(average(&["transfer_in 10 0.00"], "10"), None);
        assert_eq!(average(&["buy 10"], "10"), None);
        assert_eq!(average(&[], "0"), None);
        assert_eq!(average(&["buy 1 5.00", "sell 1 6.00"], "0"), None);
    }

    #[test]
    fn the_first_lots_are_sold_first() {
        let found =
            cost(&trades(&["buy 10 100.00", "buy 10 300.00", "sell 15 500.00"]), fixed("5"));
        let found = found.unwrap();
        assert_eq!(found.average_minor, 10_000);
        let lots: Vec<_> = found.lots.iter().map(|it| (it.quantity, it.cost_minor)).collect();
        assert_eq!(lots, [(fixed("5"), 15_000)]);
    }

    /// Purchases and sales that never exceed what is held.
    fn any_trades() -> impl Strategy<Value = Vec<Trade>> {
        let step = (any::<bool>(), 1_i128..=20_000_000_000, 0_i64..=1_000_000, 0_i64..3);
        prop::collection::vec(step, 1..30).prop_map(|steps| {
            let (mut held, mut day) = (0_i128, 20_000);
            let trade = |(sells, quantity, minor, days): (bool, i128, i64, i64)| {
                day += days;
                let sells = sells && held > 0;
                let quantity = if sells { quantity.min(held) } else { quantity };
                held += if sells { -quantity } else { quantity };
                Trade {
                    on: date_from_days(day),
                    kind: if sells { TradeKind::Sell } else { TradeKind::Buy },
                    quantity: Fixed9::from_billionths(quantity),
                    per: None,
                    amount_minor: Some(minor),
                }
            };
            steps.into_iter().map(trade).collect()
        })
    }

    fn held(trades: &[Trade]) -> Fixed9 {
        let signed = |it: &Trade| match it.kind {
            TradeKind::Sell => -it.quantity.billionths(),
            _ => it.quantity.billionths(),
        };
        Fixed9::from_billionths(trades.iter().map(signed).sum())
    }

    proptest! {
        #[test]
        fn lots_and_cost_explain_the_position(mut trades in any_trades(), rotation in 0_usize..30) {
            let held = held(&trades);
            let found = cost(&trades, held);
            prop_assert_eq!(found.is_some(), held > Fixed9::ZERO);
            let Some(found) = found else { return Ok(()) };
            let bought: i64 = trades
                .iter()
                .filter(|it| it.kind == TradeKind::Buy)
                .filter_map(|it| it.amount_minor)
                .sum();
            prop_assert!((0..=bought).contains(&found.average_minor));
            let in_lots: i128 = found.lots.iter().map(|it| it.quantity.billionths()).sum();
            prop_assert_eq!(in_lots, held.billionths());
            if trades.iter().all(|it| it.kind == TradeKind::Buy) {
                prop_assert_eq!(found.average_minor, bought);
                prop_assert_eq!(found.lots.iter().map(|it| it.cost_minor).sum::<i64>(), bought);
            }
            let rotation = rotation % trades.len();
            trades.rotate_left(rotation);
            prop_assert_eq!(cost(&trades, held), Some(found), "the order does not matter");
        }

        #[test]
        fn a_split_changes_no_cost(trades in any_trades(), ratio in 2_i128..=5) {
            let before = held(&trades);
            let Some(found) = cost(&trades, before) else { return Ok(()) };
            let mut split = trades.clone();
            split.push(Trade {
                on: date_from_days(21_000),
                kind: TradeKind::Split,
                quantity: Fixed9::from_billionths(ratio * 1_000_000_000),
                per: Some(Fixed9::ONE),
                amount_minor: None,
            });
            let after = Fixed9::from_billionths(before.billionths() * ratio);
            let after = cost(&split, after).map(|it| it.average_minor);
            prop_assert_eq!(after, Some(found.average_minor));
        }

        #[test]
        fn a_missing_trade_is_noticed(trades in any_trades(), at in 0_usize..30) {
            let held = held(&trades);
            let mut some = trades.clone();
            let missing = some.remove(at % trades.len());
            if missing.quantity.billionths() > ROUNDING {
                prop_assert_eq!(cost(&some, held), None);
            }
        }
    }
}
