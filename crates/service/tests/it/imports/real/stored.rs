//! What a person sees of their accounts after imports, without ids and times of writing.

use db::{Value, params};
use testkit::{Person, World};

/// Each account with its transactions, balances and holdings, in an order that does not depend on ids. Names are left out:
/// the first file names an account.
pub(super) async fn accounts_of(world: &World, robin: &Person) -> Vec<String> {
    let user = robin.caller.user;
    let read = |row: &db::Row<'_>| Ok((row.get::<base::AccountId>(0)?, text(row, 1)?));
    let accounts = world.app.db.all(ACCOUNTS, params![user], read).await.unwrap();
    let mut all = Vec::new();
    for (id, account) in accounts {
        let mut lines = vec![account];
        for (name, sql) in [("row", ROWS), ("balance", BALANCES), ("holding", HOLDINGS)] {
            let found = world.app.db.all(sql, params![user, id], |row| text(row, 0)).await;
            let mut found = found.unwrap();
            found.sort();
            lines.extend(found.into_iter().map(|it| format!("  {name} {it}")));
        }
        all.push(lines.join("\n"));
    }
    all.sort();
    all
}

fn text(row: &db::Row<'_>, from: usize) -> db::Result<String> {
    let mut values = Vec::new();
    for column in from..row.columns() {
        values.push(match row.value(column)? {
            Value::Null => "-".to_owned(),
            Value::Int(number) => number.to_string(),
            Value::Text(text) => text.to_owned(),
            Value::Bytes(bytes) => format!("{bytes:?}"),
        });
    }
    Ok(values.join(" | "))
}

const ACCOUNTS: &str = "select id, kind, currency, mask, balance_current_minor, balance_available_minor,
    balance_limit_minor, balance_as_of, closed_on, transaction_count from accounts where user_id = $1";
const ROWS: &str =
    "select posted_on, state, amount_minor, currency, authorized_on, description, counterparty,
    category from transactions where user_id = $1 and account_id = $2 and state <> 'removed'";
const BALANCES: &str =
    "select reported_on, current_minor, available_minor, limit_minor from balances
    where user_id = $1 and account_id = $2";
const HOLDINGS: &str =
    "select s.name, s.symbol, h.quantity, h.cost_basis_minor, h.institution_value_minor
    from holdings h join securities s on s.user_id = h.user_id and s.id = h.security_id
    where h.user_id = $1 and h.account_id = $2";
