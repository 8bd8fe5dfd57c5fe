//! A simple model of a paper account: no ledger entries, only cash, holdings and their cost.

use std::collections::BTreeMap;

use base::divide_half_even;
use calc::paper::{Side, Size};

/// A cent in billionths of a share times billionths of a dollar.
const CENT: i128 = 10_i128.pow(16);

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Model {
    pub(super) deposited: i64,
    pub(super) cash: i64,
    pub(super) reserved: i64,
    pub(super) realised: i64,
    pub(super) dividends: i64,
    /// Billionths of a share and their cost in cents, by symbol.
    pub(super) held: BTreeMap<String, (i128, i64)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Refusal {
    Funds,
    Shares,
    Small,
}

impl Refusal {
    pub(super) fn code(self) -> &'static str {
        match self {
            Refusal::Funds => "INSUFFICIENT_FUNDS",
            Refusal::Shares => "INSUFFICIENT_SHARES",
            Refusal::Small => "VALIDATION_ERROR",
        }
    }
}

/// Rounds up to whole cents.
fn round_up(value: i128) -> i64 {
    i64::try_from((value + CENT - 1) / CENT).unwrap()
}

impl Model {
    pub(super) fn with(cash: i64) -> Model {
        Model { deposited: cash, cash, ..Model::default() }
    }

    fn position(&self, symbol: &str) -> (i128, i64) {
        self.held.get(symbol).copied().unwrap_or_default()
    }

    pub(super) fn cost_of_all(&self) -> i64 {
        self.held.values().map(|it| it.1).sum()
    }

    /// Whether a proposal is accepted at this price.
    pub(super) fn allows(
        &self,
        side: Side,
        symbol: &str,
        size: Size,
        price: i128,
    ) -> Result<(), Refusal> {
        let mut after = self.clone();
        after.trade(side, symbol, size, price)?;
        let (held, _) = self.position(symbol);
        match (side, size) {
            (Side::Sell, Size::Cash(cents))
                if i128::from(cents) > divide_half_even(held * price, CENT) =>
            {
                Err(Refusal::Shares)
            }
            _ => Ok(()),
        }
    }

    pub(super) fn trade(
        &mut self,
        side: Side,
        symbol: &str,
        size: Size,
        price: i128,
    ) -> Result<(), Refusal> {
        let (held, cost) = self.position(symbol);
        let shares = match size {
            Size::Shares(quantity) => quantity.billionths(),
            Size::Cash(cents) if side == Side::Buy => i128::from(cents) * CENT / price,
            Size::Cash(cents) => (i128::from(cents) * CENT + price - 1) / price,
        };
        let is_short = match size {
            Size::Shares(_) => shares > held,
            Size::Cash(_) => held == 0,
        };
        match side {
            Side::Buy => {
                let paid = round_up(shares * price);
                if paid > self.cash {
                    return Err(Refusal::Funds);
                }
                self.cash -= paid;
                self.held.insert(symbol.to_owned(), (held + shares, cost + paid));
            }
            Side::Sell if is_short => return Err(Refusal::Shares),
            Side::Sell => {
                let mut sold = shares.min(held);
                // A remainder worth less than a cent is sold too.
                if (held - sold) * price < CENT {
                    sold = held;
                }
                let mut got = i64::try_from(sold * price / CENT).unwrap();
                if let Size::Cash(cents) = size {
                    got = got.min(cents);
                }
                if got == 0 && sold < held {
                    return Err(Refusal::Small);
                }
                let part = i64::try_from(divide_half_even(i128::from(cost) * sold, held)).unwrap();
                self.cash += got;
                self.realised += got - part;
                self.held.insert(symbol.to_owned(), (held - sold, cost - part));
                self.held.retain(|_, it| it.0 > 0);
            }
        }
        Ok(())
    }

    /// Reserves cash for a buy that waits for the market: for shares, enough for a price two percent higher.
    pub(super) fn reserve(&mut self, size: Size, price: i128) -> Result<i64, Refusal> {
        let reserved = match size {
            Size::Cash(cents) => cents,
            Size::Shares(quantity) => {
                let hundredfold = quantity.billionths() * price * 102;
                i64::try_from((hundredfold + 100 * CENT - 1) / (100 * CENT)).unwrap()
            }
        };
        if reserved > self.cash {
            return Err(Refusal::Funds);
        }
        self.cash -= reserved;
        self.reserved += reserved;
        Ok(reserved)
    }

    pub(super) fn release(&mut self, reserved: i64) {
        self.reserved -= reserved;
        self.cash += reserved;
    }

    pub(super) fn split(&mut self, symbol: &str, to: i128) {
        if let Some((quantity, _)) = self.held.get_mut(symbol) {
            *quantity *= to;
        }
    }

    pub(super) fn dividend(&mut self, symbol: &str, each: i128) {
        let paid = i64::try_from(self.position(symbol).0 * each / CENT).unwrap();
        self.cash += paid;
        self.dividends += paid;
    }
}
