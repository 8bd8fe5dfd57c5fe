//! Verifies ledgers: recomputes all balances of an account from its entries, and checks the hash chain.

use std::collections::BTreeMap;

use base::PaperAccountId;
use calc::paper::{Balances, Book, Leg, entries};
use db::params;

use super::accounts::{ACCOUNTS_MAX, HOLDINGS_MAX};
use super::chain::{self, BATCH};
use super::ledger;
use crate::platform::anchors::{self, ChainEnd, ChainWalk};
use crate::{App, Caller, Result};

/// The result of verifying all ledgers of a person. Each fault is a sentence.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LedgerReport {
    pub accounts: usize,
    pub entries: i64,
    pub faults: Vec<String>,
}

/// The stored balances of an account, which must match its ledger.
struct StoredBalances {
    id: PaperAccountId,
    name: String,
    cash: i64,
    reserved: i64,
    deposits: i64,
    realised: i64,
    dividends: i64,
    entries: i64,
}

pub async fn verify(app: &App, caller: &Caller) -> Result<LedgerReport> {
    caller.require_owner("paper account")?;
    let figures = app.db.all(FIGURES, params![caller.user, ACCOUNTS_MAX], read).await?;
    let mut report = LedgerReport { accounts: figures.len(), ..LedgerReport::default() };
    for account in &figures {
        check(app, caller, account, &mut report).await?;
        check_chain(app, caller, account, &mut report).await?;
    }
    for chain in anchors::list_ledgers(app, caller.user).await? {
        if !figures.iter().any(|it| it.id.to_string() == chain) {
            report
                .faults
                .push(format!("the paper account {chain} is missing together with its ledger"));
        }
    }
    Ok(report)
}

/// Verifies the hashes of a ledger, and compares its end with the anchor.
async fn check_chain(
    app: &App,
    caller: &Caller,
    account: &StoredBalances,
    report: &mut LedgerReport,
) -> Result<()> {
    let (user, name) = (caller.user, account.id.to_string());
    let anchor = anchors::find(app, user, &name).await?;
    let anchored = anchor.as_ref().map_or(0, |it| it.end.number);
    let mut walk = ChainWalk::default();
    loop {
        let from = walk.end.number;
        let values = params![user, account.id, from, from + BATCH];
        let entries = app.db.all(chain::ENTRIES, values, chain::read).await?;
        if entries.is_empty() {
            break;
        }
        let legs = app.db.all(chain::LEGS, values, chain::read_leg).await?;
        for entry in chain::join(entries, legs) {
            let number = walk.end.number + 1;
            if entry.number != number {
                report.faults.push(format!("{}: entry {number} is missing", account.name));
                return Ok(());
            }
            let hash = entry.chained_hash(&walk.end.hash);
            walk.step(ChainEnd { number, hash }, anchored);
        }
    }
    let after = anchors::find(app, user, &name).await?;
    let anchors = (anchor.as_ref(), after.as_ref());
    if let Some(mismatch) = anchors::check(app, (user, &name), anchors, &walk) {
        report.faults.push(format!("{}: {mismatch}", account.name));
    } else if walk.end.number < account.entries {
        let (stored, counted) = (walk.end.number, account.entries);
        report
            .faults
            .push(format!("{}: it has {stored} entries, but its count is {counted}", account.name));
    }
    Ok(())
}

async fn check(
    app: &App,
    caller: &Caller,
    account: &StoredBalances,
    report: &mut LedgerReport,
) -> Result<()> {
    let mut balances = Balances::default();
    let mut number = 0;
    while number < account.entries {
        let values = params![caller.user, account.id, number, number + BATCH];
        let legs = app.db.all(LEGS, values, read_leg).await?;
        let mut by_entry: BTreeMap<i64, Vec<Leg>> = BTreeMap::new();
        for (entry, leg) in legs {
            by_entry.entry(entry).or_default().push(leg);
        }
        for (entry, legs) in by_entry {
            if !entries::are_balanced(&legs) {
                report.faults.push(format!(
                    "{}: the legs of entry {entry} do not sum to zero",
                    account.name
                ));
            }
            balances.apply(&legs);
        }
        number += BATCH;
    }
    let pairs = [
        ("cash", account.cash, balances.cash()),
        ("reserved", account.reserved, balances.reserved()),
        ("deposits", account.deposits, balances.deposits()),
        ("realized gains", account.realised, balances.realised()),
        ("dividends", account.dividends, balances.dividends()),
    ];
    for (what, stored, recomputed) in pairs {
        if stored != recomputed {
            report.faults.push(format!(
                "{}: {what} is {stored}, but the ledger gives {recomputed}",
                account.name
            ));
        }
    }
    let values = params![caller.user, account.id, HOLDINGS_MAX];
    let stored = app.db.all(POSITIONS, values, |row| {
        let symbol: String = row.get(0)?;
        Ok((symbol, (ledger::decimal(row, 1)?, row.get::<i64>(2)?)))
    });
    let stored: BTreeMap<_, _> = stored.await?.into_iter().collect();
    let recomputed: BTreeMap<_, _> = balances
        .positions()
        .into_iter()
        .map(|(symbol, it)| (symbol.to_owned(), (it.quantity, it.basis_minor)))
        .collect();
    if stored != recomputed {
        report.faults.push(format!("{}: the positions do not match the ledger", account.name));
    }
    report.entries += account.entries;
    Ok(())
}

fn read(row: &db::Row<'_>) -> db::Result<StoredBalances> {
    Ok(StoredBalances {
        id: row.get(0)?,
        name: row.get(1)?,
        cash: row.get(2)?,
        reserved: row.get(3)?,
        deposits: row.get(4)?,
        realised: row.get(5)?,
        dividends: row.get(6)?,
        entries: row.get(7)?,
    })
}

fn read_leg(row: &db::Row<'_>) -> db::Result<(i64, Leg)> {
    let invalid = |_| db::Error::Decode { column: 3, reason: "not an amount".to_owned() };
    let amount: &str = row.get(3)?;
    let leg = Leg {
        book: row.word(1, "book", Book::parse)?,
        symbol: row.get(2)?,
        amount: amount.parse().map_err(invalid)?,
    };
    Ok((row.get(0)?, leg))
}

const FIGURES: &str =
    "select id, name, cash_minor, reserved_minor, deposited_minor, realised_minor,
    dividends_minor, entry_count from paper_accounts where user_id = $1 order by id limit $2";
const LEGS: &str = "select number, book, symbol, amount from paper_legs
    where user_id = $1 and account_id = $2 and number > $3 and number <= $4 order by number, leg";
const POSITIONS: &str = "select symbol, quantity, basis_minor from paper_positions
    where user_id = $1 and account_id = $2 order by symbol limit $3";

pub(super) const STATEMENTS: &[&str] = &[FIGURES, LEGS, POSITIONS];
