//! The ledger of a paper account (double-entry bookkeeping): every change is an entry whose legs sum to zero. The account's
//! balances are updated in the same transaction. Entries are never changed or deleted.

use base::{
    Currency, Fixed9, HoldingId, Money, PaperAccountId, PaperTradeId, SecurityId, Timestamp, UserId,
};
use calc::paper::{Balances, Leg, Position};
use db::params;
use sha2::{Digest as _, Sha256};
use sources::market::InstrumentKind;

use super::chain;
use crate::ledger::instruments::{self, InstrumentKey};
use crate::platform::anchors;
use crate::{App, Error, Result, Tx};

base::words!(
    /// The kind of an entry.
    EntryKind {
        Deposit => "deposit",
        Buy => "buy",
        Sell => "sell",
        Dividend => "dividend",
        Split => "split",
        /// Cash reserved for an order that waits for the market to open.
        Reserve => "reserve",
        Release => "release",
    }
);
db::word_columns!(EntryKind);

/// An open account that is locked until the transaction ends.
#[derive(Debug, Clone)]
pub(crate) struct LockedAccount {
    pub(crate) user: UserId,
    pub(crate) id: PaperAccountId,
    pub(crate) name: String,
    /// Cash that is not reserved.
    pub(crate) cash_minor: i64,
    reserved_minor: i64,
    entry_count: i64,
}

/// A new entry.
pub(crate) struct LedgerEntry<'a> {
    pub(crate) kind: EntryKind,
    /// The cause of the entry. Each cause is booked once.
    pub(crate) cause: String,
    pub(crate) security: Option<Security<'a>>,
    pub(crate) quantity: Option<Fixed9>,
    pub(crate) price: Option<Fixed9>,
    pub(crate) legs: Vec<Leg>,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Security<'a> {
    pub(crate) symbol: &'a str,
    pub(crate) name: Option<&'a str>,
    pub(crate) kind: InstrumentKind,
}

impl LockedAccount {
    /// Locks an account; `None` if it does not exist or is closed.
    pub(crate) fn find(
        tx: &mut Tx<'_>,
        user: UserId,
        id: PaperAccountId,
    ) -> Result<Option<LockedAccount>> {
        if tx.execute(LOCK, params![user, id])? == 0 {
            return Ok(None);
        }
        let read = |row: &db::Row<'_>| {
            Ok(LockedAccount {
                user,
                id,
                name: row.get(0)?,
                cash_minor: row.get(1)?,
                reserved_minor: row.get(2)?,
                entry_count: row.get(3)?,
            })
        };
        Ok(tx.first(OPEN, params![user, id], read)?)
    }

    pub(crate) fn position(&self, tx: &mut Tx<'_>, symbol: &str) -> Result<Position> {
        let read = |row: &db::Row<'_>| {
            Ok(Position { quantity: decimal(row, 0)?, basis_minor: row.get(1)? })
        };
        let found = tx.first(POSITION, params![self.user, self.id, symbol], read)?;
        Ok(found.unwrap_or_default())
    }

    /// Writes an entry and updates the balances. `None` if its cause was booked before.
    pub(crate) fn book(
        &mut self,
        app: &App,
        tx: &mut Tx<'_>,
        entry: &LedgerEntry<'_>,
        now: Timestamp,
    ) -> Result<Option<PaperTradeId>> {
        debug_assert!(calc::paper::entries::are_balanced(&entry.legs));
        let known = params![self.user, self.id, &entry.cause];
        if tx.first(BOOKED, known, |row| row.get::<i64>(0))?.is_some() {
            return Ok(None);
        }
        let mut sums = Balances::default();
        sums.apply(&entry.legs);
        let (cash, reserved) = (sums.cash(), sums.reserved());
        let (cash_after, reserved_after) = (self.cash_minor + cash, self.reserved_minor + reserved);
        if cash_after < 0 || reserved_after < 0 {
            return Err(Error::internal("an entry would make an account's balance negative"));
        }
        let (id, number): (PaperTradeId, i64) = (app.ids.make(), self.entry_count + 1);
        self.write(tx, entry, (id, number), (cash + reserved, sums.realised()), now)?;
        if let Some(security) = entry.security {
            self.update_position(app, tx, security, sums.position(security.symbol), now)?;
        }
        let traded = i64::from(matches!(entry.kind, EntryKind::Buy | EntryKind::Sell));
        let changed = tx.execute(
            UPDATE_BALANCES,
            params![
                self.user,
                self.id,
                cash,
                reserved,
                sums.deposits(),
                sums.realised(),
                sums.dividends(),
                traded,
                now
            ],
        )?;
        if changed != 1 {
            return Err(Error::internal("an account's balance would become negative"));
        }
        (self.cash_minor, self.reserved_minor) = (cash_after, reserved_after);
        self.entry_count = number;
        Ok(Some(id))
    }

    fn write(
        &self,
        tx: &mut Tx<'_>,
        entry: &LedgerEntry<'_>,
        (id, number): (PaperTradeId, i64),
        (amount, realised): (i64, i64),
        now: Timestamp,
    ) -> Result<()> {
        let (quantity, price) = (entry.quantity.map(|it| it.to_string()), entry.price);
        let price = price.map(|it| it.to_string());
        let security = entry.security;
        tx.execute(
            INSERT_ENTRY,
            params![
                self.user,
                self.id,
                number,
                id,
                entry.kind.as_str(),
                &entry.cause,
                security.map(|it| it.symbol),
                security.and_then(|it| it.name),
                quantity.as_deref(),
                price.as_deref(),
                amount,
                realised,
                now
            ],
        )?;
        let amounts: Vec<String> = entry.legs.iter().map(|it| it.amount.to_string()).collect();
        for (index, (leg, amount)) in entry.legs.iter().zip(&amounts).enumerate() {
            let (leg_number, symbol) = (index as i64, leg.symbol.as_deref());
            let book = leg.book.as_str();
            let values =
                params![self.user, self.id, number, leg_number, book, symbol, amount.as_str()];
            tx.execute(INSERT_LEG, values)?;
        }
        let text = |it: &str| Some(it.to_owned());
        let (kind, cause) = (text(entry.kind.as_str()), text(&entry.cause));
        let symbol = security.map(|it| it.symbol.to_owned());
        let name = security.and_then(|it| it.name).map(str::to_owned);
        let record = chain::ChainedEntry {
            number,
            id,
            texts: [kind, cause, symbol, name, quantity, price],
            amounts: [amount, realised],
            booked_at: now,
            legs: entry.legs.iter().map(chain::leg).collect(),
        };
        chain::append(tx, self.user, self.id, &record)
    }

    /// Updates a position by an entry. A position without shares is deleted.
    fn update_position(
        &self,
        app: &App,
        tx: &mut Tx<'_>,
        security: Security<'_>,
        change: Position,
        now: Timestamp,
    ) -> Result<()> {
        let before = self.position(tx, security.symbol)?;
        let quantity = before.quantity.billionths() + change.quantity.billionths();
        let basis = before.basis_minor + change.basis_minor;
        if quantity < 0 || basis < 0 {
            return Err(Error::internal("an entry would make a position negative"));
        }
        if quantity == 0 {
            tx.execute(DELETE_POSITION, params![self.user, self.id, security.symbol])?;
            return Ok(());
        }
        let key = InstrumentKey::listed(security.symbol);
        let own = security_id(security.symbol);
        let security_id = instruments::register(tx, self.user, &key, own)?;
        let id: HoldingId = app.ids.make();
        tx.execute(
            SAVE_POSITION,
            params![
                self.user,
                self.id,
                security.symbol,
                id,
                security_id,
                security.name,
                security.kind.as_str(),
                Fixed9::from_billionths(quantity).to_string().as_str(),
                basis,
                now
            ],
        )?;
        Ok(())
    }
}

/// The id of a security that the person does not hold elsewhere, derived from its symbol.
fn security_id(symbol: &str) -> SecurityId {
    let digest = Sha256::digest(format!("security {symbol}"));
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&digest[..16]);
    SecurityId::from_bytes(bytes)
}

pub(crate) fn usd(minor: i64) -> Money {
    Money::new(minor, Currency::USD)
}

pub(super) fn decimal(row: &db::Row<'_>, column: usize) -> db::Result<Fixed9> {
    let decode = |_| db::Error::Decode { column, reason: "not a decimal".to_owned() };
    Fixed9::parse(row.get(column)?).map_err(decode)
}

/// Opens an account with its starting cash, in the transaction of the action that asked for it.
pub(crate) fn open_account(
    app: &App,
    tx: &mut Tx<'_>,
    user: UserId,
    (name, cash_minor, cause): (&str, i64, String),
    now: Timestamp,
) -> Result<PaperAccountId> {
    let id: PaperAccountId = app.ids.make();
    tx.execute(INSERT_ACCOUNT, params![user, id, name, "USD", now])?;
    anchors::create(tx, user, &id.to_string(), &anchors::ChainEnd::default(), now)?;
    let account = LockedAccount::find(tx, user, id)?;
    let mut account = account.ok_or_else(|| Error::internal("a new account cannot be found"))?;
    let legs = calc::paper::entries::deposit(cash_minor);
    let kind = EntryKind::Deposit;
    let entry = LedgerEntry { kind, cause, security: None, quantity: None, price: None, legs };
    account.book(app, tx, &entry, now)?;
    Ok(id)
}

const LOCK: &str = "update paper_accounts set updated_at = updated_at
    where user_id = $1 and id = $2 and status = 'open'";
const OPEN: &str = "select name, cash_minor, reserved_minor, entry_count from paper_accounts
    where user_id = $1 and id = $2";
const POSITION: &str = "select quantity, basis_minor from paper_positions
    where user_id = $1 and account_id = $2 and symbol = $3";
const BOOKED: &str = "select number from paper_entries
    where user_id = $1 and account_id = $2 and cause = $3";
const INSERT_ENTRY: &str =
    "insert into paper_entries (user_id, account_id, number, id, kind, cause,
    symbol, name, quantity, price, amount_minor, realised_minor, booked_at)
    values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)";
const INSERT_LEG: &str = "insert into paper_legs
    (user_id, account_id, number, leg, book, symbol, amount) values ($1, $2, $3, $4, $5, $6, $7)";
const SAVE_POSITION: &str = "insert into paper_positions (user_id, account_id, symbol, id,
    security_id, name, kind, quantity, basis_minor, updated_at)
    values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
    on conflict (user_id, account_id, symbol) do update set
    security_id = excluded.security_id,
    name = coalesce(excluded.name, paper_positions.name), kind = excluded.kind,
    quantity = excluded.quantity, basis_minor = excluded.basis_minor,
    updated_at = excluded.updated_at";
const DELETE_POSITION: &str = "delete from paper_positions
    where user_id = $1 and account_id = $2 and symbol = $3";
const UPDATE_BALANCES: &str = "update paper_accounts set cash_minor = cash_minor + $3,
    reserved_minor = reserved_minor + $4, deposited_minor = deposited_minor + $5,
    realised_minor = realised_minor + $6, dividends_minor = dividends_minor + $7,
    entry_count = entry_count + 1, trade_count = trade_count + $8, updated_at = $9
    where user_id = $1 and id = $2 and cash_minor + $3 >= 0 and reserved_minor + $4 >= 0";
const INSERT_ACCOUNT: &str = "insert into paper_accounts (user_id, id, name, status, currency,
    deposited_minor, cash_minor, reserved_minor, realised_minor, dividends_minor, entry_count,
    trade_count, created_at, updated_at)
    values ($1, $2, $3, 'open', $4, 0, 0, 0, 0, 0, 0, 0, $5, $5)";

pub(super) const STATEMENTS: &[&str] = &[
    LOCK,
    OPEN,
    POSITION,
    BOOKED,
    INSERT_ENTRY,
    INSERT_LEG,
    SAVE_POSITION,
    DELETE_POSITION,
    UPDATE_BALANCES,
    INSERT_ACCOUNT,
];
