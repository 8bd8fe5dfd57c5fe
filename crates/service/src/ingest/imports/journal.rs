//! What rows were before a batch changed them, so that it can be taken back exactly.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use base::{AccountId, Date, ImportId, SecurityId, TransactionId, UserId};
use db::{Param, Row, Tx, Value};
use serde_json::Value as Json;

use crate::{Error, Result};

/// A row of one of the tables that imports write. A batch's own new transactions are not among them: they carry its id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Place {
    Account(AccountId),
    Balance(AccountId, Date),
    Holding(AccountId, SecurityId),
    Security(SecurityId),
    Transaction(TransactionId),
}

/// How a table's rows are kept and put back. The types are those of the columns: `i` numbers, `t` text, `b` bytes.
pub(super) struct Table {
    pub(super) name: &'static str,
    pub(super) select: &'static str,
    pub(super) drop: &'static str,
    pub(super) put: &'static str,
    pub(super) types: &'static str,
}

impl Place {
    pub(super) fn table(self) -> &'static Table {
        match self {
            Place::Account(_) => &ACCOUNTS,
            Place::Balance(..) => &BALANCES,
            Place::Holding(..) => &HOLDINGS,
            Place::Security(_) => &SECURITIES,
            Place::Transaction(_) => &TRANSACTIONS,
        }
    }

    pub(super) fn key(self) -> String {
        match self {
            Place::Account(id) => id.to_string(),
            Place::Balance(id, on) => format!("{id} {on}"),
            Place::Holding(id, security) => format!("{id} {security}"),
            Place::Security(id) => id.to_string(),
            Place::Transaction(id) => id.to_string(),
        }
    }

    pub(super) fn parse(table: &str, key: &str) -> Option<Place> {
        let (first, second) = key.split_once(' ').unwrap_or((key, ""));
        Some(match table {
            "account" => Place::Account(AccountId::parse(first).ok()?),
            "balance" => Place::Balance(AccountId::parse(first).ok()?, second.parse().ok()?),
            "holding" => {
                Place::Holding(AccountId::parse(first).ok()?, SecurityId::parse(second).ok()?)
            }
            "security" => Place::Security(SecurityId::parse(first).ok()?),
            "transaction" => Place::Transaction(TransactionId::parse(first).ok()?),
            _ => return None,
        })
    }

    /// The user and the key, as the statements take them.
    pub(super) fn params(self, user: UserId) -> Vec<Param<'static>> {
        match self {
            Place::Account(id) => vec![user.into(), id.into()],
            Place::Balance(id, on) => vec![user.into(), id.into(), on.into()],
            Place::Holding(id, security) => vec![user.into(), id.into(), security.into()],
            Place::Security(id) => vec![user.into(), id.into()],
            Place::Transaction(id) => vec![user.into(), id.into()],
        }
    }
}

/// What a batch has changed so far.
#[derive(Default)]
pub(super) struct Journal {
    before: BTreeMap<Place, Option<String>>,
}

impl Journal {
    /// To be called before the row is written, each time: what counts is how it was at first.
    pub(super) fn keep(&mut self, tx: &mut Tx<'_>, user: UserId, place: Place) -> Result<()> {
        if let Entry::Vacant(unknown) = self.before.entry(place) {
            unknown.insert(tx.first(place.table().select, &place.params(user), image)?);
        }
        Ok(())
    }

    /// For a row that is known not to be there.
    pub(super) fn keep_new(&mut self, place: Place) {
        self.before.entry(place).or_insert(None);
    }

    pub(super) fn forget(&mut self, place: Place) {
        self.before.remove(&place);
    }

    pub(super) fn save(self, tx: &mut Tx<'_>, user: UserId, import: ImportId) -> Result<()> {
        let kept: Vec<(&str, String, Option<String>)> = self
            .before
            .into_iter()
            .map(|(place, before)| (place.table().name, place.key(), before))
            .collect();
        let rows = kept.iter().map(|(what, key, before)| {
            [user.into(), import.into(), (*what).into(), key.into(), before.into()]
        });
        let columns = ["user_id", "import_id", "what", "row_key", "before"];
        tx.insert_many("import_journal", columns, rows)?;
        Ok(())
    }
}

fn image(row: &Row<'_>) -> db::Result<String> {
    let mut values = Vec::with_capacity(row.columns());
    for column in 0..row.columns() {
        values.push(match row.value(column)? {
            Value::Null => Json::Null,
            Value::Int(number) => number.into(),
            Value::Text(text) => text.into(),
            Value::Bytes(bytes) => {
                bytes.iter().map(|it| format!("{it:02x}")).collect::<String>().into()
            }
        });
    }
    Ok(Json::Array(values).to_string())
}

/// A kept row, ready to be put back.
pub(super) struct Image(Vec<Cell>);

enum Cell {
    Int(Option<i64>),
    Text(Option<String>),
    Bytes(Option<Vec<u8>>),
}

impl Image {
    pub(super) fn read(before: &str, types: &str) -> Result<Image> {
        let broken = || Error::internal("a kept row cannot be read");
        let values: Vec<Json> = serde_json::from_str(before).map_err(|_| broken())?;
        if values.len() != types.len() {
            return Err(broken());
        }
        let cell = |(value, kind): (Json, char)| match (kind, value) {
            ('i', Json::Null) => Some(Cell::Int(None)),
            ('i', value) => Some(Cell::Int(Some(value.as_i64()?))),
            ('t', Json::Null) => Some(Cell::Text(None)),
            ('t', Json::String(text)) => Some(Cell::Text(Some(text))),
            ('b', Json::Null) => Some(Cell::Bytes(None)),
            ('b', Json::String(hex)) => Some(Cell::Bytes(Some(from_hex(&hex)?))),
            _ => None,
        };
        let cells = values.into_iter().zip(types.chars()).map(cell).collect::<Option<_>>();
        cells.map(Image).ok_or_else(broken)
    }

    pub(super) fn params(&self, user: UserId) -> Vec<Param<'_>> {
        let cells = self.0.iter().map(|cell| match cell {
            Cell::Int(number) => Param::Int(*number),
            Cell::Text(text) => Param::Text(text.as_deref()),
            Cell::Bytes(bytes) => Param::Bytes(bytes.as_deref()),
        });
        std::iter::once(user.into()).chain(cells).collect()
    }
}

fn from_hex(text: &str) -> Option<Vec<u8>> {
    let pairs = text.as_bytes().as_chunks::<2>();
    let byte = |pair: &[u8; 2]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    pairs.1.is_empty().then(|| pairs.0.iter().map(byte).collect())?
}

// What the person says of an account is theirs, and is not turned back with a batch.
const ACCOUNTS: Table = Table {
    name: "account",
    select: "select id, name, mask, subtype, institution_name, institution_logo, balance_current_minor,
        balance_available_minor, balance_limit_minor, balance_as_of, interest_rate, apy_display,
        next_payment_due_on, closed_on, updated_at from accounts where user_id = $1 and id = $2",
    drop: "delete from accounts where user_id = $1 and id = $2",
    put: "update accounts set name = $3, mask = $4, subtype = $5, institution_name = $6, institution_logo = $7,
        balance_current_minor = $8, balance_available_minor = $9, balance_limit_minor = $10, balance_as_of = $11,
        interest_rate = $12, apy_display = $13, next_payment_due_on = $14, closed_on = $15, updated_at = $16
        where user_id = $1 and id = $2",
    types: "btttttiiiittiii",
};
const BALANCES: Table = Table {
    name: "balance",
    select: "select account_id, reported_on, current_minor, available_minor, limit_minor from balances
        where user_id = $1 and account_id = $2 and reported_on = $3",
    drop: "delete from balances where user_id = $1 and account_id = $2 and reported_on = $3",
    put: "insert into balances (user_id, account_id, reported_on, current_minor, available_minor, limit_minor)
        values ($1, $2, $3, $4, $5, $6) on conflict (user_id, account_id, reported_on) do update
        set current_minor = excluded.current_minor, available_minor = excluded.available_minor,
        limit_minor = excluded.limit_minor",
    types: "biiii",
};
const HOLDINGS: Table = Table {
    name: "holding",
    select: "select account_id, security_id, id, quantity, cost_basis_minor, institution_value_minor, updated_at
        from holdings where user_id = $1 and account_id = $2 and security_id = $3",
    drop: "delete from holdings where user_id = $1 and account_id = $2 and security_id = $3",
    put: "insert into holdings (user_id, account_id, security_id, id, quantity, cost_basis_minor,
        institution_value_minor, updated_at) values ($1, $2, $3, $4, $5, $6, $7, $8)
        on conflict (user_id, account_id, security_id) do update set quantity = excluded.quantity,
        cost_basis_minor = excluded.cost_basis_minor,
        institution_value_minor = excluded.institution_value_minor, updated_at = excluded.updated_at",
    types: "bbbtiii",
};
const SECURITIES: Table = Table {
    name: "security",
    select:
        "select id, symbol, name, kind, asset_class, price, previous_close, priced_at, updated_at
        from securities where user_id = $1 and id = $2",
    // One that something else is held of stays, whoever brought it.
    drop: "delete from securities where user_id = $1 and id = $2 and not exists
        (select 1 from holdings h where h.user_id = $1 and h.security_id = $2)",
    put: "update securities set symbol = $3, name = $4, kind = $5, asset_class = $6, price = $7,
        previous_close = $8, priced_at = $9, updated_at = $10 where user_id = $1 and id = $2",
    types: "bttttttii",
};
const TRANSACTIONS: Table = Table {
    name: "transaction",
    select: "select posted_on, id, account_id, state, amount_minor, currency, authorized_on, description,
        told_counterparty, counterparty_logo_url, told_category, external_id, created_at, import_id,
        counterparty, category, category_stage, merchant_key, transfer_kind, transfer_id, updated_at
        from transactions where user_id = $1 and id = $2",
    drop: "delete from transactions where user_id = $1 and id = $2",
    put: "insert into transactions (user_id, posted_on, id, account_id, state, amount_minor, currency,
        authorized_on, description, told_counterparty, counterparty_logo_url, told_category, external_id,
        created_at, import_id, counterparty, category, category_stage, merchant_key, transfer_kind, transfer_id,
        updated_at) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18,
        $19, $20, $21, $22)",
    types: "ibbtititttttibtttttbi",
};

pub(super) const TABLES: &[&Table] = &[&ACCOUNTS, &BALANCES, &HOLDINGS, &SECURITIES, &TRANSACTIONS];
