//! The journal of an import: rows as they were before it changed them, so that it can be undone exactly.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use base::{AccountId, Date, ImportId, SecurityId, TransactionId, UserId};
use db::{Param, Row, Tx, Value, params};
use serde_json::Value as Json;

use crate::{Error, Result};

/// The key of a row in one of the tables that imports write. New transactions need no entry: they carry the import's id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum RowKey {
    Account(AccountId),
    Balance(AccountId, Date),
    Holding(AccountId, SecurityId),
    Security(SecurityId),
    Transaction(TransactionId),
}

/// How rows of a table are read and restored. The types are those of the columns: `i` integer, `t` text, `b` bytes.
pub(super) struct JournaledTable {
    pub(super) name: &'static str,
    pub(super) select: &'static str,
    pub(super) delete: &'static str,
    pub(super) restore: &'static str,
    pub(super) types: &'static str,
}

impl RowKey {
    pub(super) fn table(self) -> &'static JournaledTable {
        match self {
            RowKey::Account(_) => &ACCOUNTS,
            RowKey::Balance(..) => &BALANCES,
            RowKey::Holding(..) => &HOLDINGS,
            RowKey::Security(_) => &SECURITIES,
            RowKey::Transaction(_) => &TRANSACTIONS,
        }
    }

    pub(super) fn key(self) -> String {
        match self {
            RowKey::Account(id) => id.to_string(),
            RowKey::Balance(id, on) => format!("{id} {on}"),
            RowKey::Holding(id, security) => format!("{id} {security}"),
            RowKey::Security(id) => id.to_string(),
            RowKey::Transaction(id) => id.to_string(),
        }
    }

    pub(super) fn parse(table: &str, key: &str) -> Option<RowKey> {
        let (first, second) = key.split_once(' ').unwrap_or((key, ""));
        Some(match table {
            "account" => RowKey::Account(AccountId::parse(first).ok()?),
            "balance" => RowKey::Balance(AccountId::parse(first).ok()?, second.parse().ok()?),
            "holding" => {
                RowKey::Holding(AccountId::parse(first).ok()?, SecurityId::parse(second).ok()?)
            }
            "security" => RowKey::Security(SecurityId::parse(first).ok()?),
            "transaction" => RowKey::Transaction(TransactionId::parse(first).ok()?),
            _ => return None,
        })
    }

    /// The user and the key as parameters of the table's statements.
    pub(super) fn params(self, user: UserId) -> Vec<Param<'static>> {
        match self {
            RowKey::Account(id) => vec![user.into(), id.into()],
            RowKey::Balance(id, on) => vec![user.into(), id.into(), on.into()],
            RowKey::Holding(id, security) => vec![user.into(), id.into(), security.into()],
            RowKey::Security(id) => vec![user.into(), id.into()],
            RowKey::Transaction(id) => vec![user.into(), id.into()],
        }
    }
}

/// The rows that an import has changed so far.
#[derive(Default)]
pub(super) struct Journal {
    before: BTreeMap<RowKey, Option<String>>,
}

impl Journal {
    /// Records a row. To be called before every write to it; only the first call has an effect.
    pub(super) fn record(&mut self, tx: &mut Tx<'_>, user: UserId, key: RowKey) -> Result<()> {
        if let Entry::Vacant(vacant) = self.before.entry(key) {
            vacant.insert(tx.first(key.table().select, &key.params(user), image)?);
        }
        Ok(())
    }

    /// Records that a row did not exist.
    pub(super) fn record_new(&mut self, key: RowKey) {
        self.before.entry(key).or_insert(None);
    }

    /// Removes a row that did not change after all.
    pub(super) fn discard(&mut self, key: RowKey) {
        self.before.remove(&key);
    }

    pub(super) fn save(self, tx: &mut Tx<'_>, user: UserId, import: ImportId) -> Result<()> {
        let entries: Vec<(&str, String, Option<String>)> = self
            .before
            .into_iter()
            .map(|(key, before)| (key.table().name, key.key(), before))
            .collect();
        let rows = entries.iter().map(|(table, key, before)| {
            [user.into(), import.into(), (*table).into(), key.into(), before.into()]
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

/// A recorded row, ready to be restored.
pub(super) struct RowImage(Vec<Cell>);

enum Cell {
    Int(Option<i64>),
    Text(Option<String>),
    Bytes(Option<Vec<u8>>),
}

impl RowImage {
    /// An image from before a column was added lacks its value. New columns come last, and are null then.
    pub(super) fn read(before: &str, types: &str) -> Result<RowImage> {
        let broken = || Error::internal("an entry of the import journal cannot be read");
        let mut values: Vec<Json> = serde_json::from_str(before).map_err(|_| broken())?;
        if values.len() > types.len() {
            return Err(broken());
        }
        values.resize(types.len(), Json::Null);
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
        cells.map(RowImage).ok_or_else(broken)
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

/// Changes the sign of an account's balances in the journals of its imports, because the person changed it from
/// something owned to something owed, or back.
pub(crate) fn negate_balances(tx: &mut Tx<'_>, user: UserId, account: AccountId) -> Result<()> {
    let id = account.to_string();
    let balances = format!("{id} %");
    let entries = tx.all(OF_ACCOUNT, params![user, &id, &balances], |row| {
        let (table, before): (String, String) = (row.get(1)?, row.get(3)?);
        Ok((row.get::<ImportId>(0)?, table, row.get::<String>(2)?, before))
    })?;
    for (import, table, row_key, before) in entries {
        let broken = || Error::internal("an entry of the import journal cannot be read");
        let mut values: Vec<Json> = serde_json::from_str(&before).map_err(|_| broken())?;
        let column = if table == ACCOUNTS.name { BALANCE_OF_ACCOUNT } else { BALANCE_OF_DAY };
        let value = values.get_mut(column).ok_or_else(broken)?;
        if let Some(minor) = value.as_i64() {
            *value = minor.saturating_neg().into();
        }
        let before = Json::Array(values).to_string();
        tx.execute(REPLACE, params![user, import, &table, &row_key, &before])?;
    }
    Ok(())
}

/// The position of `balance_current_minor` in the image of an account, and of `current_minor` in that of a balance.
const BALANCE_OF_ACCOUNT: usize = 6;
const BALANCE_OF_DAY: usize = 2;

const OF_ACCOUNT: &str = "select import_id, what, row_key, before from import_journal
    where user_id = $1 and before is not null and ((what = 'account' and row_key = $2)
        or (what = 'balance' and row_key like $3))";
const REPLACE: &str = "update import_journal set before = $5
    where user_id = $1 and import_id = $2 and what = $3 and row_key = $4";

pub(super) const STATEMENTS: &[&str] = &[OF_ACCOUNT, REPLACE];

// The person's own settings of an account are not part of an import, so undo leaves them.
const ACCOUNTS: JournaledTable = JournaledTable {
    name: "account",
    select: "select id, name, mask, subtype, institution_name, institution_logo, balance_current_minor,
        balance_available_minor, balance_limit_minor, balance_as_of, interest_rate, apy_display,
        next_payment_due_on, closed_on, updated_at from accounts where user_id = $1 and id = $2",
    delete: "delete from accounts where user_id = $1 and id = $2",
    restore: "update accounts set name = $3, mask = $4,
        subtype = case when own_type_at is null then $5 else subtype end, institution_name = $6, institution_logo = $7,
        balance_current_minor = $8, balance_available_minor = $9, balance_limit_minor = $10, balance_as_of = $11,
        interest_rate = $12, apy_display = $13, next_payment_due_on = $14, closed_on = $15, updated_at = $16
        where user_id = $1 and id = $2",
    types: "btttttiiiittiii",
};
const BALANCES: JournaledTable = JournaledTable {
    name: "balance",
    select: "select account_id, reported_on, current_minor, available_minor, limit_minor, precedence from balances
        where user_id = $1 and account_id = $2 and reported_on = $3",
    delete: "delete from balances where user_id = $1 and account_id = $2 and reported_on = $3",
    restore: "insert into balances (user_id, account_id, reported_on, current_minor, available_minor, limit_minor,
        precedence) values ($1, $2, $3, $4, $5, $6, $7) on conflict (user_id, account_id, reported_on) do update
        set current_minor = excluded.current_minor, available_minor = excluded.available_minor,
        limit_minor = excluded.limit_minor, precedence = excluded.precedence",
    types: "biiiii",
};
const HOLDINGS: JournaledTable = JournaledTable {
    name: "holding",
    select: "select account_id, security_id, id, quantity, cost_basis_minor, institution_value_minor, updated_at
        from holdings where user_id = $1 and account_id = $2 and security_id = $3",
    delete: "delete from holdings where user_id = $1 and account_id = $2 and security_id = $3",
    restore: "insert into holdings (user_id, account_id, security_id, id, quantity, cost_basis_minor,
        institution_value_minor, updated_at) values ($1, $2, $3, $4, $5, $6, $7, $8)
        on conflict (user_id, account_id, security_id) do update set quantity = excluded.quantity,
        cost_basis_minor = excluded.cost_basis_minor,
        institution_value_minor = excluded.institution_value_minor, updated_at = excluded.updated_at",
    types: "bbbtiii",
};
const SECURITIES: JournaledTable = JournaledTable {
    name: "security",
    select:
        "select id, symbol, name, kind, asset_class, price, previous_close, priced_at, updated_at
        from securities where user_id = $1 and id = $2",
    // A security that another account holds stays.
    delete: "delete from securities where user_id = $1 and id = $2 and not exists
        (select 1 from holdings h where h.user_id = $1 and h.security_id = $2)",
    restore:
        "update securities set symbol = $3, name = $4, kind = $5, asset_class = $6, price = $7,
        previous_close = $8, priced_at = $9, updated_at = $10 where user_id = $1 and id = $2",
    types: "bttttttii",
};
// The person's note and tags are not part of an import, so undo leaves them.
const TRANSACTIONS: JournaledTable = JournaledTable {
    name: "transaction",
    select: "select posted_on, id, account_id, state, amount_minor, currency, authorized_on, description,
        told_counterparty, counterparty_logo_url, told_category, external_id, created_at, import_id,
        counterparty, category, category_stage, merchant_key, transfer_kind, transfer_id, updated_at
        from transactions where user_id = $1 and id = $2",
    delete: "delete from transactions where user_id = $1 and id = $2",
    // The person may have moved the transaction to another account since; it stays there.
    restore: "update transactions set posted_on = $2, account_id = coalesce(account_id, $4), state = $5, amount_minor = $6, currency = $7,
        authorized_on = $8, description = $9, told_counterparty = $10, counterparty_logo_url = $11,
        told_category = $12, external_id = $13, created_at = $14, import_id = $15, counterparty = $16,
        category = $17, category_stage = $18, merchant_key = $19, transfer_kind = $20, transfer_id = $21,
        updated_at = $22 where user_id = $1 and id = $3",
    types: "ibbtititttttibtttttbi",
};

pub(super) const TABLES: &[&JournaledTable] =
    &[&ACCOUNTS, &BALANCES, &HOLDINGS, &SECURITIES, &TRANSACTIONS];
