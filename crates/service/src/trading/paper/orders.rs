//! Orders: estimates, reserved cash while an order waits, and fills.

use base::{ActionId, Fixed9, PaperAccountId, PaperTradeId, Timestamp, UserId};
use calc::paper::{self, Fill, OrderRejection, Position, Side, Size, entries};
use db::params;
use sources::market::Quote;
use wire::v1::Code;

use super::ledger::{EntryKind, LedgerEntry, LockedAccount, Security, usd};
use crate::{App, Error, Result, Tx};

/// The first word of the cause of a fill; the id of its action follows.
const FILL: &str = "action";

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Order {
    pub(crate) account: PaperAccountId,
    pub(crate) symbol: String,
    pub(crate) side: Side,
    pub(crate) size: Size,
}

/// An order as it would be filled at a certain price, and its account.
#[derive(Debug, Clone)]
pub(crate) struct Estimate {
    pub(crate) account: LockedAccount,
    pub(crate) held: Fixed9,
    pub(crate) fill: Fill,
}

impl Order {
    /// A short title, such as "Buy 3 AAPL" or "Sell $500.00 of AAPL".
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

    /// Estimates the fill at a price, or fails if it cannot be filled. This locks the account.
    pub(crate) fn estimate(
        &self,
        app: &App,
        tx: &mut Tx<'_>,
        user: UserId,
        price: Fixed9,
    ) -> Result<Estimate> {
        let account = LockedAccount::find(tx, user, self.account)?;
        let account = account.ok_or(Error::NotFound("paper account"))?;
        let position = account.position(tx, &self.symbol)?;
        let fill = self.compute_fill(app, price, position)?;
        Ok(Estimate { account, held: position.quantity, fill })
    }

    fn compute_fill(&self, app: &App, price: Fixed9, position: Position) -> Result<Fill> {
        let slippage = app.trading.slippage_basis_points;
        let fill = paper::fill(self.side, self.size, price, slippage, position);
        fill.map_err(|refusal| self.refusal_error(refusal))
    }

    fn refusal_error(&self, refusal: OrderRejection) -> Error {
        let param = match self.size {
            Size::Shares(_) => "quantity",
            Size::Cash(_) => "notional",
        };
        let symbol = &self.symbol;
        match refusal {
            OrderRejection::NoPrice => {
                conflict(Code::UnknownSymbol, format!("there is no current price for {symbol}"))
            }
            OrderRejection::TooSmall => Error::invalid(
                param,
                format!("{param} is too small: at this price it is less than a cent"),
            ),
            OrderRejection::TooLarge => Error::invalid(param, format!("{param} is too large")),
            OrderRejection::NotEnoughShares { held } => short_of_shares(symbol, held),
        }
    }

    /// Checks that the account has the cash for a buy, or the shares for a sale by cash amount.
    pub(crate) fn require_funds(&self, estimate: &Estimate, price: Fixed9) -> Result<()> {
        match (self.side, self.size) {
            (Side::Buy, _) if estimate.fill.cash_minor > estimate.account.cash_minor => {
                Err(short_of_cash(estimate.fill.cash_minor, estimate.account.cash_minor))
            }
            (Side::Sell, Size::Cash(minor)) => {
                let value_minor = estimate.held.times_price(price, 2).unwrap_or(i64::MAX);
                if minor > value_minor {
                    Err(short_of_shares(&self.symbol, estimate.held))
                } else {
                    Ok(())
                }
            }
            _ => Ok(()),
        }
    }

    /// The cash that a buy reserves while it waits. None if it is not positive or too large.
    pub(crate) fn cash_to_reserve(&self, app: &App, price: Fixed9) -> Option<i64> {
        paper::reserve(self.size, price, app.trading.slippage_basis_points)
    }

    /// Reserves cash for a buy that waits, and returns the amount.
    pub(crate) fn reserve(
        &self,
        app: &App,
        tx: &mut Tx<'_>,
        (user, action): (UserId, ActionId),
        price: Fixed9,
    ) -> Result<i64> {
        let now = app.clock.now();
        let account = LockedAccount::find(tx, user, self.account)?;
        let mut account = account.ok_or(Error::NotFound("paper account"))?;
        if self.side == Side::Sell {
            // The shares are checked again when the order is filled.
            self.compute_fill(app, price, account.position(tx, &self.symbol)?)?;
            return Ok(0);
        }
        let too_large = || Error::invalid("quantity", "quantity is too large");
        let minor = self.cash_to_reserve(app, price).ok_or_else(too_large)?;
        if minor > account.cash_minor {
            return Err(short_of_cash(minor, account.cash_minor));
        }
        account.book(app, tx, &reservation(EntryKind::Reserve, action, minor), now)?;
        Ok(minor)
    }

    /// Fills the order of an action. Each action is booked once.
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
        let entry = LedgerEntry {
            kind: if self.side == Side::Buy { EntryKind::Buy } else { EntryKind::Sell },
            cause: format!("{FILL} {action}"),
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
        let id =
            id.ok_or_else(|| Error::internal("a trade was booked before its action was executed"))?;
        Ok((id, *fill))
    }
}

/// Releases the cash that was reserved for an action. The amount and the account come from the ledger, because the action
/// itself may have been changed meanwhile.
pub(crate) fn release(
    app: &App,
    tx: &mut Tx<'_>,
    (user, action): (UserId, ActionId),
) -> Result<()> {
    let cause = cause(EntryKind::Reserve, action);
    let read = |row: &db::Row<'_>| {
        let amount: &str = row.get(1)?;
        let decode = |_| db::Error::Decode { column: 1, reason: "not an amount".to_owned() };
        Ok((row.get::<PaperAccountId>(0)?, amount.parse::<i64>().map_err(decode)?))
    };
    let Some((id, minor)) = tx.first(FIND_RESERVATION, params![user, cause.as_str()], read)? else {
        return Ok(());
    };
    let account = LockedAccount::find(tx, user, id)?;
    let mut account =
        account.ok_or_else(|| Error::internal("reserved cash belongs to no account"))?;
    account.book(app, tx, &reservation(EntryKind::Release, action, minor), app.clock.now())?;
    Ok(())
}

fn reservation(kind: EntryKind, action: ActionId, minor: i64) -> LedgerEntry<'static> {
    let legs = match kind {
        EntryKind::Release => entries::release(minor),
        _ => entries::reservation(minor),
    };
    let cause = cause(kind, action);
    LedgerEntry { kind, cause, security: None, quantity: None, price: None, legs }
}

fn cause(kind: EntryKind, action: ActionId) -> String {
    format!("{} {action}", kind.as_str())
}

/// The action that an entry was booked for, from its cause. `None` for a dividend or a split.
pub(super) fn action_of(cause: &str) -> Option<ActionId> {
    let (word, id) = cause.split_once(' ')?;
    let by_action = [FILL, EntryKind::Reserve.as_str(), EntryKind::Release.as_str()];
    if by_action.contains(&word) { ActionId::parse(id).ok() } else { None }
}

fn conflict(code: Code, message: String) -> Error {
    Error::Conflict { code, message }
}

fn short_of_cash(needed_minor: i64, free_minor: i64) -> Error {
    let (needed, free) = (usd(needed_minor).pretty(), usd(free_minor).pretty());
    conflict(
        Code::InsufficientFunds,
        format!("this costs {needed}, but the account has only {free} available"),
    )
}

fn short_of_shares(symbol: &str, held: Fixed9) -> Error {
    conflict(
        Code::InsufficientShares,
        format!("the account holds only {held} {symbol}, less than this order sells"),
    )
}

const FIND_RESERVATION: &str = "select a.id, l.amount from paper_accounts a
    join paper_entries e on e.user_id = a.user_id and e.account_id = a.id and e.cause = $2
    join paper_legs l on l.user_id = e.user_id and l.account_id = e.account_id
    and l.number = e.number and l.book = 'reserved'
    where a.user_id = $1";

pub(super) const STATEMENTS: &[&str] = &[FIND_RESERVATION];
