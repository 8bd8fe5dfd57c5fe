//! Imported trades of securities, and the cost of positions that follows from them.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use base::draft::TradeKind;
use base::{AccountId, Date, Fixed9, ImportId, UserId};
use calc::investments::{Trade, cost};
use db::params;

use crate::{App, Result};

/// The trades of a person, by account and how their source names the security, in capitals: its id, symbol or name.
pub(super) struct Trades(HashMap<(AccountId, String), Vec<Trade>>);

/// What tells trades of one import apart. A trade that several imports report is the same.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct TradeKey {
    account: AccountId,
    security: String,
    on: Date,
    external_id: Option<String>,
    kind: TradeKind,
    quantity: Fixed9,
    per: Option<Fixed9>,
    amount_minor: Option<i64>,
}

impl Trades {
    pub(super) async fn read(app: &App, user: UserId) -> Result<Trades> {
        // Two equal trades of one import are two; an import that repeats them adds none.
        let mut counts: BTreeMap<TradeKey, BTreeMap<ImportId, usize>> = BTreeMap::new();
        app.db
            .each(TRADES, params![user], |row| {
                let (import, key) = read_row(row)?;
                *counts.entry(key).or_default().entry(import).or_default() += 1;
                Ok(())
            })
            .await?;
        let mut trades: HashMap<(AccountId, String), Vec<Trade>> = HashMap::new();
        for (key, by_import) in counts {
            let count = by_import.values().copied().max().unwrap_or(0);
            let TradeKey { account, security, on, kind, quantity, per, amount_minor, .. } = key;
            let trade = Trade { on, kind, quantity, per, amount_minor };
            let of_security = trades.entry((account, security.to_uppercase())).or_default();
            of_security.extend(std::iter::repeat_n(trade, count));
        }
        Ok(Trades(trades))
    }

    /// The cost of a position, if its trades explain all of it: those under one of the names of its security, else those
    /// under all of them. Files of different formats name a security differently.
    pub(super) fn cost(&self, account: AccountId, names: &[&str], held: Fixed9) -> Option<i64> {
        let names: BTreeSet<String> = names.iter().map(|it| it.to_uppercase()).collect();
        let found: Vec<&Vec<Trade>> =
            names.into_iter().filter_map(|it| self.0.get(&(account, it))).collect();
        let all = || match found.len() {
            0 | 1 => None,
            _ => cost(&found.iter().copied().flatten().cloned().collect::<Vec<_>>(), held),
        };
        let one = found.iter().find_map(|it| cost(it, held));
        Some(one.or_else(all)?.average_minor)
    }
}

fn read_row(row: &db::Row<'_>) -> db::Result<(ImportId, TradeKey)> {
    let decimal = |column| match row.get::<Option<&str>>(column)? {
        Some(text) => Fixed9::parse(text)
            .map(Some)
            .map_err(|it| db::Error::Decode { column, reason: it.to_string() }),
        None => Ok(None),
    };
    let key = TradeKey {
        account: row.get(1)?,
        security: row.get(2)?,
        on: row.get(3)?,
        external_id: row.get(4)?,
        kind: row.word(5, "trade kind", TradeKind::parse)?,
        quantity: decimal(6)?.unwrap_or(Fixed9::ZERO),
        per: decimal(7)?,
        amount_minor: row.get(8)?,
    };
    Ok((row.get(0)?, key))
}

const TRADES: &str =
    "select import_id, account_id, security, traded_on, external_id, kind, quantity,
    per_quantity, amount_minor from trades where user_id = $1";

pub(crate) const STATEMENTS: &[&str] = &[TRADES];
