//! Datasets that are read directly from database tables, in pages by key.

use base::{
    AccountId, ActionId, AttachmentId, Currency, GrantId, KeyId, Money, PaperAccountId,
    PaperTradeId, RuleId, TransactionId,
};
use base::{write_date, write_instant};
use db::{Param, Value};
use wire::json::write_str;

use crate::{App, Caller, Result};

/// Rows of a page: enough to be fast, and few enough to take little memory.
pub(super) const PAGE_ROWS: i64 = 1_000;

/// A dataset from one query. `sql` takes the user, the key of the previous row, and a limit; its first columns are the key.
pub(super) struct Table {
    sql: &'static str,
    key: usize,
    columns: &'static [(&'static str, ColumnType)],
}

/// How a column is written.
#[derive(Clone, Copy)]
enum ColumnType {
    Text,
    Number,
    Day,
    Moment,
    Hex,
    /// Stored as JSON.
    Json,
    Id(fn([u8; 16]) -> String),
    /// In minor units of the currency in the column with this index.
    Amount(usize),
}

/// The key of the last row of a page.
#[derive(Clone)]
pub(super) enum Key {
    Number(i64),
    Bytes(Vec<u8>),
}

impl Table {
    /// A page of rows as JSON objects, and the key after which the next page starts, if there may be one.
    pub(super) async fn page(
        &self,
        app: &App,
        caller: &Caller,
        after: Option<Vec<Key>>,
    ) -> Result<(Vec<Vec<u8>>, Option<Vec<Key>>)> {
        let after = after.unwrap_or_else(|| self.first_key());
        let mut params: Vec<Param<'_>> = vec![caller.user.into()];
        params.extend(after.iter().map(|it| match it {
            Key::Number(number) => Param::from(*number),
            Key::Bytes(bytes) => Param::from(&bytes[..]),
        }));
        params.push(PAGE_ROWS.into());
        let (mut rows, mut last) = (Vec::new(), None);
        app.db
            .each_slow(self.sql, &params, |row| {
                rows.push(self.row(row)?);
                last = Some((0..self.key).map(|it| key(row.value(it)?)).collect::<db::Result<_>>());
                Ok(())
            })
            .await?;
        let more = rows.len() as i64 == PAGE_ROWS;
        Ok((rows, last.filter(|_| more).transpose()?))
    }

    fn first_key(&self) -> Vec<Key> {
        let first = |(_, kind): &(&str, ColumnType)| match kind {
            ColumnType::Id(_) => Key::Bytes(Vec::new()),
            _ => Key::Number(i64::MIN),
        };
        self.columns[..self.key].iter().map(first).collect()
    }

    fn row(&self, row: &db::Row<'_>) -> db::Result<Vec<u8>> {
        let mut out = Vec::with_capacity(256);
        for (index, (name, kind)) in self.columns.iter().enumerate() {
            out.push(if index == 0 { b'{' } else { b',' });
            write_str(&mut out, name);
            out.push(b':');
            match row.value(index)? {
                Value::Null => out.extend_from_slice(b"null"),
                value => write(&mut out, *kind, row, value)
                    .map_err(|reason| db::Error::Decode { column: index, reason })?,
            }
        }
        out.push(b'}');
        Ok(out)
    }
}

fn key(value: Value<'_>) -> db::Result<Key> {
    match value {
        Value::Int(number) => Ok(Key::Number(number)),
        Value::Bytes(bytes) => Ok(Key::Bytes(bytes.to_vec())),
        Value::Text(_) | Value::Null => {
            Err(db::Error::Decode { column: 0, reason: "not a key".to_owned() })
        }
    }
}

fn write(
    out: &mut Vec<u8>,
    kind: ColumnType,
    row: &db::Row<'_>,
    value: Value<'_>,
) -> Result<(), String> {
    match (kind, value) {
        (ColumnType::Text, Value::Text(text)) => write_str(out, text),
        (ColumnType::Json, Value::Text(text)) => out.extend_from_slice(text.as_bytes()),
        (ColumnType::Number, Value::Int(number)) => {
            out.extend_from_slice(number.to_string().as_bytes())
        }
        (ColumnType::Day, Value::Int(days)) => quoted(out, |out| write_date(out, days)),
        (ColumnType::Moment, Value::Int(micros)) => quoted(out, |out| write_instant(out, micros)),
        (ColumnType::Hex, Value::Bytes(bytes)) => quoted(out, |out| {
            bytes.iter().for_each(|it| out.extend_from_slice(format!("{it:02x}").as_bytes()));
        }),
        (ColumnType::Id(text), Value::Bytes(bytes)) => {
            let bytes = bytes.try_into().map_err(|_| "an id has 16 bytes".to_owned())?;
            write_str(out, &text(bytes));
        }
        (ColumnType::Amount(of), Value::Int(minor)) => {
            let currency: Currency = row.get(of).map_err(|error| error.to_string())?;
            Money::new(minor, currency).write(out);
        }
        _ => return Err("an unexpected type of value".to_owned()),
    }
    Ok(())
}

fn quoted(out: &mut Vec<u8>, inner: impl FnOnce(&mut Vec<u8>)) {
    out.push(b'"');
    inner(out);
    out.push(b'"');
}

const ACCOUNT: ColumnType = ColumnType::Id(|it| AccountId::from_bytes(it).to_string());
const ATTACHMENT: ColumnType = ColumnType::Id(|it| AttachmentId::from_bytes(it).to_string());
const TRANSACTION: ColumnType = ColumnType::Id(|it| TransactionId::from_bytes(it).to_string());

pub(super) const BALANCES: Table = Table {
    sql: BALANCES_AFTER,
    key: 2,
    columns: &[
        ("account_id", ACCOUNT),
        ("date", ColumnType::Day),
        ("currency", ColumnType::Text),
        ("balance_current", ColumnType::Amount(2)),
        ("balance_available", ColumnType::Amount(2)),
        ("balance_limit", ColumnType::Amount(2)),
    ],
};

pub(super) const SCORES: Table = Table {
    sql: SCORES_AFTER,
    key: 1,
    columns: &[
        ("observation_date", ColumnType::Day),
        ("evenkeel", ColumnType::Number),
        ("recovery", ColumnType::Number),
        ("capacity", ColumnType::Number),
        ("baseline", ColumnType::Number),
        ("explanation", ColumnType::Json),
    ],
};

const PAPER_ACCOUNT: ColumnType = ColumnType::Id(|it| PaperAccountId::from_bytes(it).to_string());

pub(super) const ACTIONS: Table = Table {
    sql: ACTIONS_AFTER,
    key: 1,
    columns: &[
        ("action_id", ColumnType::Id(|it| ActionId::from_bytes(it).to_string())),
        ("action_type", ColumnType::Text),
        ("status", ColumnType::Text),
        ("description", ColumnType::Text),
        ("reason_markdown", ColumnType::Text),
        ("payload", ColumnType::Json),
        ("details", ColumnType::Json),
        ("proposed_by", ColumnType::Text),
        ("created_at", ColumnType::Moment),
        ("expires_at", ColumnType::Moment),
        ("decided_at", ColumnType::Moment),
        ("decision_method", ColumnType::Text),
        ("rejection_reason", ColumnType::Text),
        ("executed_at", ColumnType::Moment),
        ("display_error_message", ColumnType::Text),
        ("result", ColumnType::Json),
        ("digest", ColumnType::Hex),
    ],
};

pub(super) const PAPER_ACCOUNTS: Table = Table {
    sql: PAPER_ACCOUNTS_AFTER,
    key: 1,
    columns: &[
        ("id", PAPER_ACCOUNT),
        ("name", ColumnType::Text),
        ("status", ColumnType::Text),
        ("currency", ColumnType::Text),
        ("starting_cash_balance", ColumnType::Amount(3)),
        ("buying_power", ColumnType::Amount(3)),
        ("reserved", ColumnType::Amount(3)),
        ("realised_gains", ColumnType::Amount(3)),
        ("dividends", ColumnType::Amount(3)),
        ("created_at", ColumnType::Moment),
    ],
};

pub(super) const PAPER_TRADES: Table = Table {
    sql: PAPER_TRADES_AFTER,
    key: 2,
    columns: &[
        ("account_id", PAPER_ACCOUNT),
        ("number", ColumnType::Number),
        ("id", ColumnType::Id(|it| PaperTradeId::from_bytes(it).to_string())),
        ("type", ColumnType::Text),
        ("symbol", ColumnType::Text),
        ("name", ColumnType::Text),
        ("quantity", ColumnType::Text),
        ("price", ColumnType::Text),
        ("currency", ColumnType::Text),
        ("amount", ColumnType::Amount(8)),
        ("realised_gain", ColumnType::Amount(8)),
        ("created_at", ColumnType::Moment),
    ],
};

pub(super) const RULES: Table = Table {
    sql: RULES_AFTER,
    key: 1,
    columns: &[
        ("id", ColumnType::Id(|it| RuleId::from_bytes(it).to_string())),
        ("merchant", ColumnType::Text),
        ("words", ColumnType::Text),
        ("account_id", ACCOUNT),
        ("cash_flow_direction", ColumnType::Text),
        ("counterparty_name", ColumnType::Text),
        ("category", ColumnType::Text),
        ("created_at", ColumnType::Moment),
        ("amount_currency", ColumnType::Text),
        ("amount_least", ColumnType::Amount(8)),
        ("amount_most", ColumnType::Amount(8)),
        ("position", ColumnType::Number),
    ],
};

pub(super) const CORRECTIONS: Table = Table {
    sql: CORRECTIONS_AFTER,
    key: 1,
    columns: &[
        ("transaction_id", TRANSACTION),
        ("counterparty_name", ColumnType::Text),
        ("category", ColumnType::Text),
        ("corrected_at", ColumnType::Moment),
        ("visibility", ColumnType::Text),
        ("transfer", ColumnType::Text),
    ],
};

pub(super) const ATTACHMENTS: Table = Table {
    sql: ATTACHMENTS_AFTER,
    key: 1,
    columns: &[
        ("id", ATTACHMENT),
        ("transaction_id", TRANSACTION),
        ("name", ColumnType::Text),
        ("media_type", ColumnType::Text),
        ("size", ColumnType::Number),
        ("created_at", ColumnType::Moment),
    ],
};

pub(super) const REFUND_LINKS: Table = Table {
    sql: REFUND_LINKS_AFTER,
    key: 1,
    columns: &[
        ("refund_id", TRANSACTION),
        ("purchase_id", TRANSACTION),
        ("linked_at", ColumnType::Moment),
    ],
};

pub(super) const TRANSFER_DECISIONS: Table = Table {
    sql: TRANSFER_DECISIONS_AFTER,
    key: 2,
    columns: &[
        ("outflow_id", TRANSACTION),
        ("inflow_id", TRANSACTION),
        ("decision", ColumnType::Text),
        ("decided_at", ColumnType::Moment),
    ],
};

pub(super) const KEYS: Table = Table {
    sql: KEYS_AFTER,
    key: 1,
    columns: &[
        ("id", ColumnType::Id(|it| KeyId::from_bytes(it).to_string())),
        ("name", ColumnType::Text),
        ("last_four", ColumnType::Text),
        ("scopes", ColumnType::Text),
        ("limited_to_accounts_at", ColumnType::Moment),
        ("created_at", ColumnType::Moment),
        ("expires_at", ColumnType::Moment),
        ("last_used_at", ColumnType::Moment),
        ("last_used_address", ColumnType::Text),
        ("revoked_at", ColumnType::Moment),
    ],
};

pub(super) const APPS: Table = Table {
    sql: APPS_AFTER,
    key: 1,
    columns: &[
        ("id", ColumnType::Id(|it| GrantId::from_bytes(it).to_string())),
        ("name", ColumnType::Text),
        ("host", ColumnType::Text),
        ("scopes", ColumnType::Text),
        ("allowed_at", ColumnType::Moment),
        ("last_used_at", ColumnType::Moment),
        ("last_used_address", ColumnType::Text),
        ("revoked_at", ColumnType::Moment),
    ],
};

pub(super) const AUDIT: Table = Table {
    sql: AUDIT_AFTER,
    key: 1,
    columns: &[
        ("number", ColumnType::Number),
        ("at", ColumnType::Moment),
        ("actor", ColumnType::Text),
        ("actor_id", ColumnType::Text),
        ("actor_name", ColumnType::Text),
        ("action", ColumnType::Text),
        ("subject", ColumnType::Text),
        ("details", ColumnType::Text),
        ("method", ColumnType::Text),
        ("address", ColumnType::Text),
        ("digest", ColumnType::Hex),
        ("hash", ColumnType::Hex),
    ],
};

const BALANCES_AFTER: &str = "select b.account_id, b.reported_on, a.currency, b.current_minor,
    b.available_minor, b.limit_minor from balances b
    join accounts a on a.user_id = b.user_id and a.id = b.account_id
    where b.user_id = $1 and (b.account_id, b.reported_on) > ($2, $3)
    order by b.account_id, b.reported_on limit $4";
const SCORES_AFTER: &str =
    "select observed_on, evenkeel, recovery, capacity, baseline, explanation from scores
    where user_id = $1 and observed_on > $2 order by observed_on limit $3";
const ACTIONS_AFTER: &str = "select id, action_type, status, description, reason, payload, details,
    proposer_label, created_at, expires_at, decided_at, decision_method, rejection_reason,
    executed_at, error_message, result, digest from actions
    where user_id = $1 and id > $2 order by id limit $3";
const PAPER_ACCOUNTS_AFTER: &str = "select id, name, status, currency, deposited_minor, cash_minor,
    reserved_minor, realised_minor, dividends_minor, created_at from paper_accounts
    where user_id = $1 and id > $2 order by id limit $3";
const PAPER_TRADES_AFTER: &str = "select e.account_id, e.number, e.id, e.kind, e.symbol, e.name,
    e.quantity, e.price, a.currency, e.amount_minor, e.realised_minor, e.booked_at
    from paper_entries e join paper_accounts a on a.user_id = e.user_id and a.id = e.account_id
    where e.user_id = $1 and (e.account_id, e.number) > ($2, $3)
    order by e.account_id, e.number limit $4";
const RULES_AFTER: &str = "select id, merchant_key, words, account_id, direction, counterparty,
    category, created_at, amount_currency, amount_least, amount_most, position from rules
    where user_id = $1 and id > $2 order by id limit $3";
const CORRECTIONS_AFTER: &str =
    "select transaction_id, counterparty, category, fixed_at, visibility, transfer from transaction_fixes
    where user_id = $1 and transaction_id > $2 order by transaction_id limit $3";
const ATTACHMENTS_AFTER: &str =
    "select id, transaction_id, name, media_type, byte_count, created_at from attachments
    where user_id = $1 and id > $2 order by id limit $3";
const REFUND_LINKS_AFTER: &str = "select refund_id, purchase_id, linked_at from refund_links
    where user_id = $1 and refund_id > $2 order by refund_id limit $3";
const TRANSFER_DECISIONS_AFTER: &str =
    "select outflow_id, inflow_id, decision, decided_at from transfer_decisions
    where user_id = $1 and (outflow_id, inflow_id) > ($2, $3) order by outflow_id, inflow_id
    limit $4";
const KEYS_AFTER: &str = "select id, name, hint, scopes, limited_at, created_at, expires_at,
    last_used_at, last_used_address, revoked_at from api_keys
    where user_id = $1 and id > $2 order by id limit $3";
const APPS_AFTER: &str = "select g.id, c.name, g.host, g.scopes, g.created_at, g.last_used_at,
    g.last_used_address, g.revoked_at from oauth_grants g join oauth_clients c on c.id = g.client_id
    where g.user_id = $1 and g.id > $2 order by g.id limit $3";
const AUDIT_AFTER: &str = "select number, at, actor, actor_id, actor_label, action, subject,
    details, method, address, digest, hash from audit
    where user_id = $1 and number > $2 order by number limit $3";

pub(crate) const STATEMENTS: &[&str] = &[
    BALANCES_AFTER,
    SCORES_AFTER,
    ACTIONS_AFTER,
    PAPER_ACCOUNTS_AFTER,
    PAPER_TRADES_AFTER,
    RULES_AFTER,
    CORRECTIONS_AFTER,
    ATTACHMENTS_AFTER,
    REFUND_LINKS_AFTER,
    TRANSFER_DECISIONS_AFTER,
    KEYS_AFTER,
    APPS_AFTER,
    AUDIT_AFTER,
];
