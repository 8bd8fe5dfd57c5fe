//! Orders: whether one could be filled, cash put aside while it waits, and the filling itself.

use base::{ActionId, Fixed9, PaperAccountId, PaperTradeId, Timestamp, UserId};
use calc::paper::{self, Fill, OrderRejection, Position, Side, Size, entries};
use db::params;
use sources::market::Quote;
use wire::v1::Code;

use super::book::{Entry, EntryKind, Open, Security};
use super::usd;
use crate::{App, Error, Result, Tx};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Order {
    pub(crate) account: PaperAccountId,
    pub(crate) symbol: String,
    pub(crate) side: Side,
    pub(crate) size: Size,
}

/// An order as it would be filled at a price, and the account it is for.
#[derive(Debug, Clone)]
pub(crate) struct Estimate {
    pub(crate) account: Open,
    pub(crate) held: Fixed9,
    pub(crate) fill: Fill,
}

impl Order {
    /// "Buy 3 AAPL", "Sell $500.00 of AAPL".
    pub(crate) fn title(&self) -> String {
        let verb = match self.side {
            Side::Buy => "Buy",
            Side::Sell => "Sell",
        };
        match self.size {
            Size::Shares(quantity) => format!("{verb} {quantity} {}", self.symbol),
            Size::Cash(minor) => format!("{verb} {} of {}", usd(minor).pretty(), self.symbol),
        }
    }

    /// What it would do at this price, or why it cannot. The account is locked from here on.
    pub(crate) fn estimate(
        &self,
        app: &App,
        tx: &mut Tx<'_>,
        user: UserId,
        price: Fixed9,
    ) -> Result<Estimate> {
        let account = Open::find(tx, user, self.account)?;
        let account = account.ok_or(Error::NotFound("paper account"))?;
        let position = account.position(tx, &self.symbol)?;
        let fill = self.filled(app, price, position)?;
        Ok(Estimate { account, held: position.quantity, fill })
    }

    fn filled(&self, app: &App, price: Fixed9, position: Position) -> Result<Fill> {
        let slippage = app.trading.slippage_basis_points;
        let fill = paper::fill(self.side, self.size, price, slippage, position);
        fill.map_err(|refusal| self.refused(refusal))
    }

    fn refused(&self, refusal: OrderRejection) -> Error {
        let param = match self.size {
            Size::Shares(_) => "quantity",
            Size::Cash(_) => "notional",
        };
        let symbol = &self.symbol;
        match refusal {
            OrderRejection::NoPrice => refusal_of(
                Code::UnknownSymbol,
                format!("there is no usable price of {symbol} right now"),
            ),
            OrderRejection::TooSmall => Error::invalid(
                param,
                format!("{param} is too small: at this price it comes to less than a cent"),
            ),
            OrderRejection::TooLarge => Error::invalid(param, format!("{param} is too large")),
            OrderRejection::NotEnoughShares { held } => short_of_shares(symbol, held),
        }
    }

    /// Cash is there for a buy, and shares for a sell that names its worth in cash.
    pub(crate) fn affordable(&self, estimate: &Estimate, price: Fixed9) -> Result<()> {
        match (self.side, self.size) {
            (Side::Buy, _) if estimate.fill.cash_minor > estimate.account.cash_minor => {
                Err(short_of_cash(estimate.fill.cash_minor, estimate.account.cash_minor))
            }
            (Side::Sell, Size::Cash(minor)) => {
                let worth = estimate.held.times_price(price, 2).unwrap_or(i64::MAX);
                if minor > worth {
                    Err(short_of_shares(&self.symbol, estimate.held))
                } else {
                    Ok(())
                }
            }
            _ => Ok(()),
        }
    }

    /// Puts cash aside for a buy that waits; how much is handed back.
    pub(crate) fn reserve(
        &self,
        app: &App,
        tx: &mut Tx<'_>,
        (user, action): (UserId, ActionId),
        price: Fixed9,
    ) -> Result<i64> {
        let now = app.clock.now();
        let account = Open::find(tx, user, self.account)?;
        let mut account = account.ok_or(Error::NotFound("paper account"))?;
        if self.side == Side::Sell {
            // Whether the shares are still there is seen when it is filled.
            self.filled(app, price, account.position(tx, &self.symbol)?)?;
            return Ok(0);
        }
        let too_large = || Error::invalid("quantity", "quantity is too large");
        let minor = paper::reserve(self.size, price).ok_or_else(too_large)?;
        if minor > account.cash_minor {
            return Err(short_of_cash(minor, account.cash_minor));
        }
        account.book(app, tx, &aside(EntryKind::Reserve, action, minor), now)?;
        Ok(minor)
    }

    /// Books the trade of an action, once.
    pub(crate) fn fill(
        &self,
        app: &App,
        tx: &mut Tx<'_>,
        (user, action): (UserId, ActionId),
        quote: &Quote,
    ) -> Result<(PaperTradeId, Fill)> {
        let mut estimate = self.estimate(app, tx, user, quote.price)?;
        let Estimate { account, fill, .. } = &mut estimate;
        if self.side == Side::Buy && fill.cash_minor > account.cash_minor {
            return Err(short_of_cash(fill.cash_minor, account.cash_minor));
        }
        let entry = Entry {
            kind: if self.side == Side::Buy { EntryKind::Buy } else { EntryKind::Sell },
            cause: format!("action {action}"),
            security: Some(Security {
                symbol: &self.symbol,
                name: quote.name.as_deref(),
                kind: quote.kind,
            }),
            quantity: Some(fill.quantity),
            price: Some(fill.price),
            legs: entries::trade(&self.symbol, fill),
        };
        let now: Timestamp = app.clock.now();
        let id = account.book(app, tx, &entry, now)?;
        let id = id.ok_or_else(|| Error::internal("a trade was booked before its action was"))?;
        Ok((id, *fill))
    }
}

/// Gives back what was put aside for an action. What that is and where, the ledger says: the action itself may have been
/// changed meanwhile.
pub(crate) fn release(
    app: &App,
    tx: &mut Tx<'_>,
    (user, action): (UserId, ActionId),
) -> Result<()> {
    let cause = cause(EntryKind::Reserve, action);
    let read = |row: &db::Row<'_>| {
        let amount: &str = row.get(1)?;
        let decode = |_| db::Error::Decode { column: 1, reason: "no amount".to_owned() };
        Ok((row.get::<PaperAccountId>(0)?, amount.parse::<i64>().map_err(decode)?))
    };
    let Some((id, minor)) = tx.first(ASIDE, params![user, cause.as_str()], read)? else {
        return Ok(());
    };
    let account = Open::find(tx, user, id)?;
    let mut account = account.ok_or_else(|| Error::internal("cash aside in no account"))?;
    account.book(app, tx, &aside(EntryKind::Release, action, minor), app.clock.now())?;
    Ok(())
}

fn aside(kind: EntryKind, action: ActionId, minor: i64) -> Entry<'static> {
    let legs = match kind {
        EntryKind::Release => entries::release(minor),
        _ => entries::reservation(minor),
    };
    let cause = cause(kind, action);
    Entry { kind, cause, security: None, quantity: None, price: None, legs }
}

fn cause(kind: EntryKind, action: ActionId) -> String {
    format!("{} {action}", kind.as_str())
}

fn refusal_of(code: Code, message: String) -> Error {
    Error::Conflict { code, message }
}

fn short_of_cash(needed_minor: i64, free_minor: i64) -> Error {
    let (needed, free) = (usd(needed_minor).pretty(), usd(free_minor).pretty());
    refusal_of(
        Code::InsufficientFunds,
        format!("this takes {needed}, and the account has {free} to spend"),
    )
}

fn short_of_shares(symbol: &str, held: Fixed9) -> Error {
    refusal_of(
        Code::InsufficientShares,
        format!("the account holds {held} {symbol}, which is less than this sells"),
    )
}

const ASIDE: &str = "select a.id, l.amount from paper_accounts a
    join paper_entries e on e.user_id = a.user_id and e.account_id = a.id and e.cause = $2
    join paper_legs l on l.user_id = e.user_id and l.account_id = e.account_id
    and l.number = e.number and l.book = 'reserved'
    where a.user_id = $1";

pub(super) const STATEMENTS: &[&str] = &[ASIDE];
