//! The history of a paper account, newest first.

use base::{Fixed9, PaperAccountId, PaperTradeId, Timestamp};
use db::params;
use wire::json::{Day, Moment, Number};
use wire::v1;

use super::accounts::{require_exists, require_read};
use super::ledger::{self, EntryKind, usd};
use crate::platform::cursors::{self, Page};
use crate::{App, Caller, Error, Result};

#[derive(Debug, Clone)]
pub struct Trade {
    pub id: PaperTradeId,
    pub kind: EntryKind,
    pub symbol: Option<String>,
    pub security_name: Option<String>,
    pub quantity: Option<Fixed9>,
    pub price: Option<Fixed9>,
    /// The change in cash: positive if received, negative if paid.
    pub amount_minor: i64,
    pub realised_minor: i64,
    pub at: Timestamp,
}

impl Trade {
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
            EntryKind::Reserve => format!("Reserved for {symbol}"),
            EntryKind::Release => format!("Released from {symbol}"),
        }
    }
}

impl From<&Trade> for v1::PaperTrade {
    fn from(trade: &Trade) -> v1::PaperTrade {
        let is_trade = matches!(trade.kind, EntryKind::Buy | EntryKind::Sell);
        v1::PaperTrade {
            id: trade.id.to_string(),
            r#type: if is_trade { "trade" } else { trade.kind.as_str() },
            subtype: trade.kind.as_str(),
            name: trade.name(),
            symbol: trade.symbol.clone(),
            date: Day(trade.at.to_zoned(jiff::tz::TimeZone::UTC).date()),
            created_at: Moment(trade.at),
            quantity: trade.quantity.map(Number::from),
            price: trade.price.map(Number::from),
            amount: usd(trade.amount_minor).into(),
        }
    }
}

/// A page of the history.
#[derive(Debug, Clone)]
pub struct History {
    pub trades: Vec<Trade>,
    pub next_cursor: Option<String>,
}

pub async fn list_trades(
    app: &App,
    caller: &Caller,
    id: PaperAccountId,
    page: Page<'_>,
) -> Result<History> {
    require_read(caller)?;
    require_exists(app, caller, id).await?;
    let account = id.to_string();
    let scope = cursors::CursorScope { user: caller.user, list: "paper trades", filter: &account };
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
    let mut found = app.db.all(LIST, values, read).await?;
    let more = found.len() > page.limit;
    found.truncate(page.limit);
    let next_cursor = match found.last().filter(|_| more) {
        Some((number, _)) => {
            let position = number.to_be_bytes();
            Some(app.cursors.seal(&scope, app.clock.now(), &app.entropy, &position)?)
        }
        None => None,
    };
    Ok(History { trades: found.into_iter().map(|(_, trade)| trade).collect(), next_cursor })
}

fn read(row: &db::Row<'_>) -> db::Result<(i64, Trade)> {
    let optional = |column: usize| match row.get::<Option<&str>>(column)? {
        Some(_) => ledger::decimal(row, column).map(Some),
        None => Ok(None),
    };
    let trade = Trade {
        id: row.get(1)?,
        kind: row.get(2)?,
        symbol: row.get(3)?,
        security_name: row.get(4)?,
        quantity: optional(5)?,
        price: optional(6)?,
        amount_minor: row.get(7)?,
        realised_minor: row.get(8)?,
        at: row.get(9)?,
    };
    Ok((row.get(0)?, trade))
}

const LIST: &str = "select number, id, kind, symbol, name, quantity, price, amount_minor,
    realised_minor, booked_at from paper_entries
    where user_id = $1 and account_id = $2 and number < $3 and kind not in ('reserve', 'release')
    order by number desc limit $4";

pub(super) const STATEMENTS: &[&str] = &[LIST];
