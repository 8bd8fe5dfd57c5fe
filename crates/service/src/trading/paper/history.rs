//! The history of a paper account, newest first: its trades, and its activity (every entry of the ledger).

use base::{ActionId, Fixed9, PaperAccountId, PaperTradeId, TimeZone, Timestamp};
use db::params;
use wire::json::{Day, Moment, Number};
use wire::v1;

use super::accounts::{require_exists, require_read};
use super::ledger::{self, EntryKind, usd};
use super::orders;
use crate::platform::cursors::{self, Page};
use crate::{App, Caller, Error, Result};

/// A buy or a sell.
#[derive(Debug, Clone)]
pub struct Trade {
    pub id: PaperTradeId,
    pub kind: EntryKind,
    pub symbol: String,
    pub quantity: Fixed9,
    pub price: Fixed9,
    /// The change in cash: positive if received, negative if paid.
    pub amount_minor: i64,
    pub at: Timestamp,
}

/// An entry of the ledger: a change of cash, reserved cash or shares.
#[derive(Debug, Clone)]
pub struct Activity {
    pub id: PaperTradeId,
    pub kind: EntryKind,
    pub symbol: Option<String>,
    /// The shares traded, the shares that a dividend is paid for, or the shares held after a split.
    pub quantity: Option<Fixed9>,
    /// The price of a share, or the dividend of a share.
    pub price: Option<Fixed9>,
    /// The change in cash, with reserved cash counted as cash.
    pub amount_minor: i64,
    /// The change in reserved cash.
    pub reserved_minor: i64,
    pub realised_minor: i64,
    /// The action that a deposit, a trade or a reservation belongs to.
    pub action: Option<ActionId>,
    pub at: Timestamp,
}

/// A page of a list, and the cursor of the next page.
#[derive(Debug, Clone)]
pub struct HistoryPage<T> {
    pub rows: Vec<T>,
    pub next_cursor: Option<String>,
}

impl Activity {
    /// A short description, such as "Bought 3 AAPL".
    pub fn name(&self) -> String {
        let symbol = self.symbol.as_deref().unwrap_or_default();
        let quantity = self.quantity.map(|it| it.to_string()).unwrap_or_default();
        match self.kind {
            EntryKind::Buy => format!("Bought {quantity} {symbol}"),
            EntryKind::Sell => format!("Sold {quantity} {symbol}"),
            EntryKind::Dividend => format!("Dividend of {symbol}"),
            EntryKind::Split => format!("Split of {symbol}, now {quantity} shares"),
            EntryKind::Deposit => "Starting cash".to_owned(),
            EntryKind::Reserve => "Cash reserved for a waiting order".to_owned(),
            EntryKind::Release => "Reserved cash released".to_owned(),
        }
    }

    pub fn is_reservation(&self) -> bool {
        matches!(self.kind, EntryKind::Reserve | EntryKind::Release)
    }

    /// The entry as the API shows it, with its date in the person's time zone.
    pub fn to_wire(&self, timezone: TimeZone) -> v1::PaperActivity {
        v1::PaperActivity {
            id: self.id.to_string(),
            r#type: activity_type(self.kind),
            subtype: self.kind.as_str(),
            name: self.name(),
            symbol: self.symbol.clone(),
            date: Day(timezone.date_at(self.at)),
            created_at: Moment(self.at),
            quantity: self.quantity.map(Number::from),
            price: self.price.map(Number::from),
            amount: usd(self.amount_minor).into(),
            reserved_amount: usd(self.reserved_minor).into(),
            action_id: self.action.map(|it| it.to_string()),
        }
    }
}

impl Trade {
    /// The trade as the API shows it, with its date in the person's time zone.
    pub fn to_wire(&self, timezone: TimeZone) -> v1::PaperTrade {
        let verb = if self.kind == EntryKind::Sell { "Sold" } else { "Bought" };
        v1::PaperTrade {
            id: self.id.to_string(),
            r#type: activity_type(self.kind),
            subtype: self.kind.as_str(),
            name: format!("{verb} {} {}", self.quantity, self.symbol),
            symbol: self.symbol.clone(),
            date: Day(timezone.date_at(self.at)),
            created_at: Moment(self.at),
            quantity: self.quantity.into(),
            price: self.price.into(),
            amount: usd(self.amount_minor).into(),
        }
    }
}

fn activity_type(kind: EntryKind) -> &'static str {
    match kind {
        EntryKind::Buy | EntryKind::Sell => "trade",
        EntryKind::Reserve | EntryKind::Release => "reservation",
        EntryKind::Deposit | EntryKind::Dividend | EntryKind::Split => kind.as_str(),
    }
}

/// Lists the trades of an account: buys and sells only, as many as its `trade_count`.
pub async fn list_trades(
    app: &App,
    caller: &Caller,
    id: PaperAccountId,
    page: Page<'_>,
) -> Result<HistoryPage<Trade>> {
    list(app, caller, id, page, ("paper trades", TRADES), read_trade).await
}

/// Lists everything that changed the cash, the reserved cash or the shares of an account.
pub async fn list_activity(
    app: &App,
    caller: &Caller,
    id: PaperAccountId,
    page: Page<'_>,
) -> Result<HistoryPage<Activity>> {
    list(app, caller, id, page, ("paper activity", ACTIVITY), read_activity).await
}

/// A page of one of the lists, by the numbers of the entries.
async fn list<T: Send + 'static>(
    app: &App,
    caller: &Caller,
    id: PaperAccountId,
    page: Page<'_>,
    (name, sql): (&'static str, &'static str),
    read: fn(&db::Row<'_>) -> db::Result<(i64, T)>,
) -> Result<HistoryPage<T>> {
    require_read(caller)?;
    require_exists(app, caller, id).await?;
    let account = id.to_string();
    let scope = cursors::CursorScope { user: caller.user, list: name, filter: &account };
    let before = match page.cursor {
        Some(cursor) => {
            let position = app.cursors.open(&scope, app.clock.now(), cursor)?;
            let position = <[u8; 8]>::try_from(position.as_slice());
            let malformed = |_| Error::internal("a cursor has the wrong length");
            i64::from_be_bytes(position.map_err(malformed)?)
        }
        None => i64::MAX,
    };
    let values = params![caller.user, id, before, page.limit as i64 + 1];
    let mut found = app.db.all(sql, values, read).await?;
    let more = found.len() > page.limit;
    found.truncate(page.limit);
    let next_cursor = match found.last().filter(|_| more) {
        Some((number, _)) => {
            let position = number.to_be_bytes();
            Some(app.cursors.seal(&scope, app.clock.now(), &app.entropy, &position)?)
        }
        None => None,
    };
    Ok(HistoryPage { rows: found.into_iter().map(|(_, row)| row).collect(), next_cursor })
}

fn read_trade(row: &db::Row<'_>) -> db::Result<(i64, Trade)> {
    let trade = Trade {
        id: row.get(1)?,
        kind: row.get(2)?,
        symbol: row.get(3)?,
        quantity: ledger::decimal(row, 4)?,
        price: ledger::decimal(row, 5)?,
        amount_minor: row.get(6)?,
        at: row.get(7)?,
    };
    Ok((row.get(0)?, trade))
}

fn read_activity(row: &db::Row<'_>) -> db::Result<(i64, Activity)> {
    let optional = |column: usize| match row.get::<Option<&str>>(column)? {
        Some(_) => ledger::decimal(row, column).map(Some),
        None => Ok(None),
    };
    let reserved_minor = match row.get::<Option<&str>>(10)? {
        Some(amount) => amount
            .parse()
            .map_err(|_| db::Error::Decode { column: 10, reason: "not an amount".to_owned() })?,
        None => 0,
    };
    let activity = Activity {
        id: row.get(1)?,
        kind: row.get(2)?,
        symbol: row.get(3)?,
        quantity: optional(4)?,
        price: optional(5)?,
        amount_minor: row.get(6)?,
        at: row.get(7)?,
        realised_minor: row.get(8)?,
        action: orders::action_of(row.get(9)?),
        reserved_minor,
    };
    Ok((row.get(0)?, activity))
}

const TRADES: &str = "select number, id, kind, symbol, quantity, price, amount_minor, booked_at
    from paper_entries
    where user_id = $1 and account_id = $2 and number < $3 and kind in ('buy', 'sell')
    order by number desc limit $4";
const ACTIVITY: &str = "select e.number, e.id, e.kind, e.symbol, e.quantity, e.price,
    e.amount_minor, e.booked_at, e.realised_minor, e.cause,
    (select l.amount from paper_legs l where l.user_id = $1 and l.account_id = e.account_id
        and l.number = e.number and l.book = 'reserved')
    from paper_entries e where e.user_id = $1 and e.account_id = $2 and e.number < $3
    order by e.number desc limit $4";

pub(super) const STATEMENTS: &[&str] = &[TRADES, ACTIVITY];
