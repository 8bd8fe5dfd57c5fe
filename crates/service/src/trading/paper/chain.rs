//! A paper account's ledger as a chain: the hash of each entry covers the one before, and the last is anchored. Sums alone
//! do not tell that entries are missing which cancel each other out, nor that figures were rolled back with them.

use std::collections::BTreeMap;

use base::{PaperAccountId, PaperTradeId, Timestamp, UserId};
use calc::paper::Leg;
use db::params;
use sha2::{Digest as _, Sha256};

use crate::platform::anchors::{self, ChainEnd};
use crate::{Result, Tx};

/// Entries looked at in one go; an account may have more than fit in memory.
pub(super) const STEP: i64 = 1_000;

/// Everything that is stored of an entry.
pub(super) struct Record {
    pub(super) number: i64,
    pub(super) id: PaperTradeId,
    /// Kind, cause, symbol, name, quantity and price.
    pub(super) texts: [Option<String>; 6],
    /// What cash gained, and what was realised.
    pub(super) amounts: [i64; 2],
    pub(super) booked_at: Timestamp,
    /// Book, symbol and amount.
    pub(super) legs: Vec<[Option<String>; 3]>,
}

impl Record {
    /// The hash of this entry behind the one before.
    pub(super) fn hashed(&self, before: &[u8]) -> Vec<u8> {
        let mut hash = Sha256::new();
        hash.update(before);
        hash.update(self.number.to_be_bytes());
        hash.update(self.id.as_bytes());
        for number in [self.amounts[0], self.amounts[1], self.booked_at.as_microsecond()] {
            hash.update(number.to_be_bytes());
        }
        for text in self.texts.iter().chain(self.legs.iter().flatten()) {
            // The length goes first, so that no two lists of texts run together to the same bytes.
            hash.update(text.as_ref().map_or(-1, |it| it.len() as i64).to_be_bytes());
            hash.update(text.as_deref().unwrap_or_default());
        }
        hash.finalize().to_vec()
    }
}

pub(super) fn leg(leg: &Leg) -> [Option<String>; 3] {
    [Some(leg.book.as_str().to_owned()), leg.symbol.clone(), Some(leg.amount.to_string())]
}

/// Anchors a new entry. Where the anchor is gone or fits another end, it is left for `verify` to tell.
pub(super) fn append(
    tx: &mut Tx<'_>,
    user: UserId,
    account: PaperAccountId,
    entry: &Record,
) -> Result<()> {
    let chain = account.to_string();
    let Some(before) = anchors::anchored_end(tx, user, &chain)? else { return Ok(()) };
    let after = ChainEnd { number: entry.number, hash: entry.hashed(&before.hash) };
    // Behind a gap the entry follows from nothing that is anchored.
    if before.number + 1 != entry.number {
        return Ok(());
    }
    anchors::advance(tx, user, &chain, &before, &after)
}

/// Anchors the ledgers of somebody whose database was written before there were anchors.
pub(crate) fn anchor_ledgers(tx: &mut Tx<'_>, user: UserId, now: Timestamp) -> Result<()> {
    let accounts = tx.all(ACCOUNTS, params![user], |row| row.get::<PaperAccountId>(0))?;
    for account in accounts {
        let mut end = ChainEnd::default();
        loop {
            let values = params![user, account, end.number, end.number + STEP];
            let entries = tx.all(ENTRIES, values, read)?;
            let legs = tx.all(LEGS, values, read_leg)?;
            if entries.is_empty() {
                break;
            }
            for entry in join(entries, legs) {
                end = ChainEnd { number: entry.number, hash: entry.hashed(&end.hash) };
            }
        }
        anchors::create(tx, user, &account.to_string(), &end, now)?;
    }
    Ok(())
}

/// Puts legs to their entries. Legs of an entry that is not there are left out.
pub(super) fn join(entries: Vec<Record>, legs: Vec<(i64, [Option<String>; 3])>) -> Vec<Record> {
    let mut by_entry: BTreeMap<i64, Vec<_>> = BTreeMap::new();
    for (number, leg) in legs {
        by_entry.entry(number).or_default().push(leg);
    }
    let with_legs = |mut entry: Record| {
        entry.legs = by_entry.remove(&entry.number).unwrap_or_default();
        entry
    };
    entries.into_iter().map(with_legs).collect()
}

pub(super) fn read(row: &db::Row<'_>) -> db::Result<Record> {
    let mut texts = [const { None }; 6];
    for (index, text) in texts.iter_mut().enumerate() {
        *text = row.get::<Option<String>>(index + 2)?;
    }
    Ok(Record {
        number: row.get(0)?,
        id: row.get(1)?,
        texts,
        amounts: [row.get(8)?, row.get(9)?],
        booked_at: row.get(10)?,
        legs: Vec::new(),
    })
}

pub(super) fn read_leg(row: &db::Row<'_>) -> db::Result<(i64, [Option<String>; 3])> {
    Ok((row.get(0)?, [row.get(1)?, row.get(2)?, row.get(3)?]))
}

const ACCOUNTS: &str = "select id from paper_accounts where user_id = $1 order by id";
pub(super) const ENTRIES: &str = "select number, id, kind, cause, symbol, name, quantity, price,
    amount_minor, realised_minor, booked_at from paper_entries
    where user_id = $1 and account_id = $2 and number > $3 and number <= $4 order by number";
pub(super) const LEGS: &str = "select number, book, symbol, amount from paper_legs
    where user_id = $1 and account_id = $2 and number > $3 and number <= $4 order by number, leg";

pub(super) const STATEMENTS: &[&str] = &[ACCOUNTS, ENTRIES, LEGS];
