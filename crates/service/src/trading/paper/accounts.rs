//! Paper accounts and their holdings, with values at current prices.

use std::collections::HashMap;

use base::{
    Currency, Fixed9, HoldingId, Money, PaperAccountId, Percent, SecurityId, Timestamp, UserId,
};
use db::params;
use sources::market::{InstrumentKind, calendar};
use wire::json::{Moment, Number};
use wire::v1::{self, Code, Scope};

use super::ledger::{self, EntryKind, usd};
use crate::ledger::instruments;
use crate::ledger::quotes::{self, SourcedQuote};
use crate::{App, Caller, Error, Result};

/// The most paper accounts of one person.
pub const ACCOUNTS_MAX: i64 = 100;
pub(super) const HOLDINGS_MAX: i64 = 1_000;

base::words!(
    /// The status of a paper account.
    AccountStatus {
        Open => "open",
        Closed => "closed",
    }
);
db::word_columns!(AccountStatus);

/// A paper account with the value of its holdings at the latest prices.
#[derive(Debug, Clone)]
pub struct Account {
    pub id: PaperAccountId,
    pub name: String,
    pub is_open: bool,
    pub starting_minor: i64,
    pub cash_minor: i64,
    pub reserved_minor: i64,
    pub trade_count: i64,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    pub holdings: Vec<Holding>,
    /// The net amount paid and shares bought since the previous close, by symbol. The day's change is computed from it.
    invested_today: HashMap<String, (i64, Fixed9)>,
}

#[derive(Debug, Clone)]
pub struct Holding {
    pub id: HoldingId,
    pub security_id: SecurityId,
    pub symbol: String,
    pub name: Option<String>,
    pub kind: InstrumentKind,
    pub quantity: Fixed9,
    pub basis_minor: i64,
    pub priced: Option<SourcedQuote>,
}

impl Holding {
    /// `None` while there is no price.
    pub fn value_minor(&self) -> Option<i64> {
        self.priced.as_ref().and_then(|it| self.quantity.times_price(it.quote.price, 2))
    }

    pub fn gain_minor(&self) -> Option<i64> {
        Some(self.value_minor()? - self.basis_minor)
    }

    pub fn shown_name(&self) -> &str {
        self.name.as_deref().unwrap_or(&self.symbol)
    }
}

impl Account {
    pub fn buying_power(&self) -> Money {
        usd(self.cash_minor)
    }

    pub fn total_cash(&self) -> Money {
        usd(self.cash_minor + self.reserved_minor)
    }

    /// `None` while one of the prices is missing, because a partial sum would be wrong.
    pub fn holdings_value(&self) -> Option<Money> {
        let values: Option<i64> = self.holdings.iter().map(Holding::value_minor).sum();
        values.map(usd)
    }

    pub fn total_value(&self) -> Option<Money> {
        let holdings = self.holdings_value()?;
        Some(usd(holdings.minor() + self.total_cash().minor()))
    }

    pub fn gain(&self) -> Option<Money> {
        Some(usd(self.total_value()?.minor() - self.starting_minor))
    }

    pub fn gain_percent(&self) -> Option<Percent> {
        Percent::of(self.gain()?.minor(), self.starting_minor)
    }

    /// The change in value since the last close due to prices, without purchases and sales.
    pub fn day_change(&self) -> Option<Money> {
        let mut change = 0;
        let mut held: HashMap<&str, &Holding> =
            self.holdings.iter().map(|it| (it.symbol.as_str(), it)).collect();
        for (symbol, (invested, bought)) in &self.invested_today {
            let holding = held.remove(symbol.as_str());
            // All shares were sold today. Without a holding there is no close to compare the sale with.
            let Some(holding) = holding else { continue };
            let close = holding.priced.as_ref()?.quote.previous_close?;
            let before = holding.quantity.billionths() - bought.billionths();
            let before = Fixed9::from_billionths(before).times_price(close, 2)?;
            change += holding.value_minor()? - before - invested;
        }
        for holding in held.into_values() {
            let close = holding.priced.as_ref()?.quote.previous_close?;
            change += holding.value_minor()? - holding.quantity.times_price(close, 2)?;
        }
        Some(usd(change))
    }

    pub fn day_change_percent(&self) -> Option<Percent> {
        let change = self.day_change()?.minor();
        Percent::of(change, self.total_value()?.minor() - change)
    }

    /// The time of the oldest price.
    pub fn as_of(&self) -> Option<Timestamp> {
        self.holdings.iter().filter_map(|it| it.priced.as_ref()).map(|it| it.quote.at).min()
    }
}

impl From<&Account> for v1::PaperAccount {
    fn from(account: &Account) -> v1::PaperAccount {
        v1::PaperAccount {
            id: account.id.to_string(),
            name: account.name.clone(),
            status: if account.is_open { "open" } else { "closed" },
            currency: Currency::USD.to_string(),
            starting_cash_balance: usd(account.starting_minor).into(),
            cash_balance: account.total_cash().into(),
            buying_power: account.buying_power().into(),
            holdings_value: account.holdings_value().map(Number::from),
            total_value: account.total_value().map(Number::from),
            total_gain_loss: account.gain().map(Number::from),
            total_gain_loss_percent: account.gain_percent().map(Number::from),
            day_change: account.day_change().map(Number::from),
            day_change_percent: account.day_change_percent().map(Number::from),
            holdings_count: account.holdings.len() as i64,
            trade_count: account.trade_count,
            created_at: Moment(account.created_at),
            updated_at: Moment(account.updated_at),
            as_of: account.as_of().map(Moment),
        }
    }
}

impl From<&Holding> for v1::PaperHolding {
    fn from(holding: &Holding) -> v1::PaperHolding {
        let quote = holding.priced.as_ref().map(|it| &it.quote);
        v1::PaperHolding {
            id: holding.id.to_string(),
            security_id: holding.security_id.to_string(),
            symbol: holding.symbol.clone(),
            name: holding.shown_name().to_owned(),
            security_type: holding.kind.as_str(),
            currency: Currency::USD.to_string(),
            quantity: holding.quantity.into(),
            cost_basis: usd(holding.basis_minor).into(),
            institution_price: quote.map(|it| it.price.into()),
            institution_value: holding.value_minor().map(|it| usd(it).into()),
            as_of: quote.map(|it| Moment(it.at)),
        }
    }
}

/// The error when a person has too many paper accounts.
pub(crate) fn too_many_accounts() -> Error {
    let message = format!("you already have the maximum of {ACCOUNTS_MAX} paper accounts");
    Error::Conflict { code: Code::Conflict, message }
}

/// Requires the scope to read paper accounts. A key that is limited to some accounts cannot see paper accounts.
pub(super) fn require_read(caller: &Caller) -> Result<()> {
    caller.require(Scope::PaperRead)?;
    if caller.limited_to().is_some() { Err(Error::NotFound("paper account")) } else { Ok(()) }
}

/// Lists all paper accounts, oldest first.
pub async fn list_accounts(app: &App, caller: &Caller) -> Result<Vec<Account>> {
    caller.require(Scope::PaperRead)?;
    if caller.limited_to().is_some() {
        return Ok(Vec::new());
    }
    let mut accounts = app.db.all(ACCOUNTS, params![caller.user, ACCOUNTS_MAX], read).await?;
    let mut held = app
        .db
        .all(ALL_POSITIONS, params![caller.user, HOLDINGS_MAX], |row| {
            Ok((row.get::<PaperAccountId>(0)?, read_holding(row, 1)?))
        })
        .await?;
    let symbols = held.iter().map(|(_, it)| it.symbol.clone()).collect();
    let prices = newest_prices(app, caller.user, symbols).await?;
    for (account, mut holding) in held.drain(..) {
        holding.priced = prices.get(&holding.symbol).cloned();
        if let Some(account) = accounts.iter_mut().find(|it| it.id == account) {
            account.holdings.push(holding);
        }
    }
    let since = previous_close(app.clock.now());
    for account in &mut accounts {
        let values = params![caller.user, account.id, since];
        account.invested_today = net_traded(app.db.all(TRADED_SINCE, values, read_traded).await?);
    }
    Ok(accounts)
}

pub async fn get_account(app: &App, caller: &Caller, id: PaperAccountId) -> Result<Account> {
    require_read(caller)?;
    let accounts = list_accounts(app, caller).await?;
    accounts.into_iter().find(|it| it.id == id).ok_or(Error::NotFound("paper account"))
}

/// Lists the holdings of an account, the most valuable first, those without a price last.
pub async fn list_holdings(app: &App, caller: &Caller, id: PaperAccountId) -> Result<Vec<Holding>> {
    require_read(caller)?;
    require_exists(app, caller, id).await?;
    let values = params![caller.user, id, HOLDINGS_MAX];
    let mut held = app.db.all(POSITIONS, values, |row| read_holding(row, 0)).await?;
    let symbols = held.iter().map(|it| it.symbol.clone()).collect();
    let prices = newest_prices(app, caller.user, symbols).await?;
    for holding in &mut held {
        holding.priced = prices.get(&holding.symbol).cloned();
    }
    held.sort_by_key(|it| (std::cmp::Reverse(it.value_minor()), it.symbol.clone()));
    Ok(held)
}

/// The newest price of each symbol, from the market or from an institution where the person holds the same security.
/// Trades are still filled at the market's price.
async fn newest_prices(
    app: &App,
    user: UserId,
    symbols: Vec<String>,
) -> Result<HashMap<String, SourcedQuote>> {
    if symbols.is_empty() {
        return Ok(HashMap::new());
    }
    let mut prices = quotes::find_many(app, symbols).await?;
    for (symbol, given) in instruments::institution_prices(app, user).await? {
        let found = prices.remove(&symbol);
        prices.insert(symbol.clone(), quotes::newest(app, &symbol, found, given));
    }
    Ok(prices)
}

pub(super) async fn require_exists(app: &App, caller: &Caller, id: PaperAccountId) -> Result<()> {
    let found = app.db.first(EXISTS, params![caller.user, id], |row| row.get::<i64>(0)).await?;
    found.map(|_| ()).ok_or(Error::NotFound("paper account"))
}

/// The previous close, which the day's change is measured from: the close of the session before the latest.
fn previous_close(now: Timestamp) -> Timestamp {
    let latest = calendar::last_session(now);
    let before = calendar::session_on(calendar::previous_session(latest.date()));
    before.map_or(latest.opens_at, |it| it.closes_at)
}

/// The net amount paid for each symbol, and the net number of shares bought.
fn net_traded(traded: Vec<(String, EntryKind, i64, Fixed9)>) -> HashMap<String, (i64, Fixed9)> {
    let mut sums: HashMap<String, (i64, Fixed9)> = HashMap::new();
    for (symbol, kind, amount, quantity) in traded {
        let (paid, shares) = sums.entry(symbol).or_default();
        *paid -= amount;
        let sign = if kind == EntryKind::Buy { 1 } else { -1 };
        *shares = Fixed9::from_billionths(shares.billionths() + sign * quantity.billionths());
    }
    sums
}

fn read(row: &db::Row<'_>) -> db::Result<Account> {
    Ok(Account {
        id: row.get(0)?,
        name: row.get(1)?,
        is_open: row.get::<AccountStatus>(2)? == AccountStatus::Open,
        starting_minor: row.get(3)?,
        cash_minor: row.get(4)?,
        reserved_minor: row.get(5)?,
        trade_count: row.get(6)?,
        created_at: row.get(7)?,
        updated_at: row.get(8)?,
        holdings: Vec::new(),
        invested_today: HashMap::new(),
    })
}

fn read_holding(row: &db::Row<'_>, from: usize) -> db::Result<Holding> {
    Ok(Holding {
        id: row.get(from)?,
        security_id: row.get(from + 1)?,
        symbol: row.get(from + 2)?,
        name: row.get(from + 3)?,
        kind: row.word(from + 4, "kind of security", InstrumentKind::parse)?,
        quantity: ledger::decimal(row, from + 5)?,
        basis_minor: row.get(from + 6)?,
        priced: None,
    })
}

fn read_traded(row: &db::Row<'_>) -> db::Result<(String, EntryKind, i64, Fixed9)> {
    Ok((row.get(0)?, row.get(1)?, row.get(2)?, ledger::decimal(row, 3)?))
}

const ACCOUNTS: &str = "select id, name, status, deposited_minor, cash_minor, reserved_minor,
    trade_count, created_at, updated_at from paper_accounts where user_id = $1 order by id limit $2";
const EXISTS: &str = "select entry_count from paper_accounts where user_id = $1 and id = $2";
const ALL_POSITIONS: &str = "select account_id, id, security_id, symbol, name, kind, quantity,
    basis_minor from paper_positions where user_id = $1 order by account_id, symbol limit $2";
const POSITIONS: &str = "select id, security_id, symbol, name, kind, quantity, basis_minor
    from paper_positions where user_id = $1 and account_id = $2 order by symbol limit $3";
const TRADED_SINCE: &str = "select symbol, kind, amount_minor, quantity from paper_entries
    where user_id = $1 and account_id = $2 and booked_at > $3 and symbol is not null
    and quantity is not null and kind in ('buy', 'sell')
    order by number desc limit 10000";

pub(super) const STATEMENTS: &[&str] = &[ACCOUNTS, EXISTS, ALL_POSITIONS, POSITIONS, TRADED_SINCE];
