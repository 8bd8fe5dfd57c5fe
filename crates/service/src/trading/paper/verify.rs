//! Follows a ledger from its first entry: every figure of the account must come out again.

use std::collections::BTreeMap;

use base::PaperAccountId;
use calc::paper::{Balances, Book, Leg, entries};
use db::params;

use super::chain::{self, STEP};
use super::{ACCOUNTS_MAX, HOLDINGS_MAX, book};
use crate::platform::anchors::{self, ChainEnd, ChainWalk};
use crate::{App, Caller, Result};

/// What was found: how many entries, and what does not fit, in sentences.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Soundness {
    pub accounts: usize,
    pub entries: i64,
    pub faults: Vec<String>,
}

/// The figures of an account that must follow from its ledger.
struct Figures {
    id: PaperAccountId,
    name: String,
    cash: i64,
    reserved: i64,
    deposits: i64,
    realised: i64,
    dividends: i64,
    entries: i64,
}

pub async fn verify(app: &App, caller: &Caller) -> Result<Soundness> {
    caller.require_owner("paper account")?;
    let figures = app.db.all(FIGURES, params![caller.user, ACCOUNTS_MAX], read).await?;
    let mut found = Soundness { accounts: figures.len(), ..Soundness::default() };
    for account in &figures {
        check(app, caller, account, &mut found).await?;
        check_chain(app, caller, account, &mut found).await?;
    }
    for chain in anchors::list_ledgers(app, caller.user).await? {
        if !figures.iter().any(|it| it.id.to_string() == chain) {
            found.faults.push(format!("the paper account {chain} is gone with its ledger"));
        }
    }
    Ok(found)
}

/// Follows the hashes of a ledger, and holds its end against its anchor.
async fn check_chain(
    app: &App,
    caller: &Caller,
    of: &Figures,
    found: &mut Soundness,
) -> Result<()> {
    let (user, name) = (caller.user, of.id.to_string());
    let anchor = anchors::find(app, user, &name).await?;
    let anchored = anchor.as_ref().map_or(0, |it| it.end.number);
    let mut followed = ChainWalk::default();
    loop {
        let from = followed.end.number;
        let values = params![user, of.id, from, from + STEP];
        let entries = app.db.all(chain::ENTRIES, values, chain::read).await?;
        if entries.is_empty() {
            break;
        }
        let legs = app.db.all(chain::LEGS, values, chain::read_leg).await?;
        for entry in chain::join(entries, legs) {
            let number = followed.end.number + 1;
            if entry.number != number {
                found.faults.push(format!("{}: entry {number} is missing", of.name));
                return Ok(());
            }
            let hash = entry.hashed(&followed.end.hash);
            followed.step(ChainEnd { number, hash }, anchored);
        }
    }
    let after = anchors::find(app, user, &name).await?;
    let anchors = (anchor.as_ref(), after.as_ref());
    if let Some(mismatch) = anchors::check(app, (user, &name), anchors, &followed) {
        found.faults.push(format!("{}: {mismatch}", of.name));
    } else if followed.end.number < of.entries {
        let (kept, counted) = (followed.end.number, of.entries);
        found.faults.push(format!("{}: it has {kept} entries and counts {counted}", of.name));
    }
    Ok(())
}

async fn check(app: &App, caller: &Caller, of: &Figures, found: &mut Soundness) -> Result<()> {
    let mut balances = Balances::default();
    let mut number = 0;
    while number < of.entries {
        let values = params![caller.user, of.id, number, number + STEP];
        let legs = app.db.all(LEGS, values, read_leg).await?;
        let mut by_entry: BTreeMap<i64, Vec<Leg>> = BTreeMap::new();
        for (entry, leg) in legs {
            by_entry.entry(entry).or_default().push(leg);
        }
        for (entry, legs) in by_entry {
            if !entries::are_balanced(&legs) {
                found.faults.push(format!("{}: entry {entry} does not add up", of.name));
            }
            balances.apply(&legs);
        }
        number += STEP;
    }
    let pairs = [
        ("cash", of.cash, balances.cash()),
        ("reserved", of.reserved, balances.reserved()),
        ("deposits", of.deposits, balances.deposits()),
        ("realised gains", of.realised, balances.realised()),
        ("dividends", of.dividends, balances.dividends()),
    ];
    for (what, kept, follows) in pairs {
        if kept != follows {
            found.faults.push(format!("{}: {what} is {kept}, but {follows} follows", of.name));
        }
    }
    let values = params![caller.user, of.id, HOLDINGS_MAX];
    let kept = app.db.all(POSITIONS, values, |row| {
        let symbol: String = row.get(0)?;
        Ok((symbol, (book::decimal(row, 1)?, row.get::<i64>(2)?)))
    });
    let kept: BTreeMap<_, _> = kept.await?.into_iter().collect();
    let follows: BTreeMap<_, _> = balances
        .positions()
        .into_iter()
        .map(|(symbol, it)| (symbol.to_owned(), (it.quantity, it.basis_minor)))
        .collect();
    if kept != follows {
        found.faults.push(format!("{}: the positions do not follow from the ledger", of.name));
    }
    found.entries += of.entries;
    Ok(())
}

fn read(row: &db::Row<'_>) -> db::Result<Figures> {
    Ok(Figures {
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
    let decode = |reason: &str| db::Error::Decode { column: 1, reason: reason.to_owned() };
    let amount: &str = row.get(3)?;
    let leg = Leg {
        book: Book::parse(row.get(1)?).ok_or_else(|| decode("an unknown book"))?,
        symbol: row.get(2)?,
        amount: amount.parse().map_err(|_| decode("no amount"))?,
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
