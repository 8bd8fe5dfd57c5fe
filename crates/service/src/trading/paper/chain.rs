//! The hash chain of a paper account's ledger: the hash of each entry covers the entry before, and the last one is
//! anchored. Sums alone would not reveal missing entries that cancel each other out, or balances that were rolled back
//! together with their entries.

use std::collections::BTreeMap;

use base::{PaperAccountId, PaperTradeId, Timestamp, UserId};
use calc::paper::Leg;
use db::params;
use sha2::{Digest as _, Sha256};

use crate::platform::anchors::{self, ChainEnd};
use crate::{Result, Tx};

/// How many entries are read at a time; an account may have more than fit in memory.
pub(super) const BATCH: i64 = 1_000;

/// All stored columns of an entry, which its hash covers.
pub(super) struct ChainedEntry {
    pub(super) number: i64,
    pub(super) id: PaperTradeId,
    /// Kind, cause, symbol, name, quantity and price.
    pub(super) texts: [Option<String>; 6],
    /// The change in cash, and the realized gain.
    pub(super) amounts: [i64; 2],
    pub(super) booked_at: Timestamp,
    /// Book, symbol and amount.
    pub(super) legs: Vec<[Option<String>; 3]>,
}

impl ChainedEntry {
    /// The hash of this entry, which covers the hash of the entry before.
    pub(super) fn chained_hash(&self, before: &[u8]) -> Vec<u8> {
        let mut hash = Sha256::new();
        hash.update(before);
        hash.update(self.number.to_be_bytes());
        hash.update(self.id.as_bytes());
        for number in [self.amounts[0], self.amounts[1], self.booked_at.as_microsecond()] {
            hash.update(number.to_be_bytes());
        }
        for text in self.texts.iter().chain(self.legs.iter().flatten()) {
            // Each text is preceded by its length, so that different lists of texts never give the same bytes.
            hash.update(text.as_ref().map_or(-1, |it| it.len() as i64).to_be_bytes());
            hash.update(text.as_deref().unwrap_or_default());
        }
        hash.finalize().to_vec()
    }
}

pub(super) fn leg(leg: &Leg) -> [Option<String>; 3] {
    [Some(leg.book.as_str().to_owned()), leg.symbol.clone(), Some(leg.amount.to_string())]
}

/// Advances the anchor to a new entry. A missing or wrong anchor is left alone, so that `verify` reports it.
pub(super) fn append(
    tx: &mut Tx<'_>,
    user: UserId,
    account: PaperAccountId,
    entry: &ChainedEntry,
) -> Result<()> {
    let chain = account.to_string();
    let Some(before) = anchors::anchored_end(tx, user, &chain)? else { return Ok(()) };
    let after = ChainEnd { number: entry.number, hash: entry.chained_hash(&before.hash) };
    // After a gap the entry does not follow the anchored one.
    if before.number + 1 != entry.number {
        return Ok(());
    }
    anchors::advance(tx, user, &chain, &before, &after)
}

/// Anchors all ledgers of a person, for a database that was written before there were anchors.
pub(crate) fn anchor_ledgers(tx: &mut Tx<'_>, user: UserId, now: Timestamp) -> Result<()> {
    let accounts = tx.all(ACCOUNTS, params![user], |row| row.get::<PaperAccountId>(0))?;
    for account in accounts {
        let mut end = ChainEnd::default();
        loop {
            let values = params![user, account, end.number, end.number + BATCH];
            let entries = tx.all(ENTRIES, values, read)?;
            let legs = tx.all(LEGS, values, read_leg)?;
            if entries.is_empty() {
                break;
            }
            for entry in join(entries, legs) {
                end = ChainEnd { number: entry.number, hash: entry.chained_hash(&end.hash) };
            }
        }
        anchors::create(tx, user, &account.to_string(), &end, now)?;
    }
    Ok(())
}

/// Adds the legs to their entries. Legs without an entry are left out.
pub(super) fn join(
    entries: Vec<ChainedEntry>,
    legs: Vec<(i64, [Option<String>; 3])>,
) -> Vec<ChainedEntry> {
    let mut by_entry: BTreeMap<i64, Vec<_>> = BTreeMap::new();
    for (number, leg) in legs {
        by_entry.entry(number).or_default().push(leg);
    }
    let with_legs = |mut entry: ChainedEntry| {
        entry.legs = by_entry.remove(&entry.number).unwrap_or_default();
        entry
    };
    entries.into_iter().map(with_legs).collect()
}

pub(super) fn read(row: &db::Row<'_>) -> db::Result<ChainedEntry> {
    let mut texts = [const { None }; 6];
    for (index, text) in texts.iter_mut().enumerate() {
        *text = row.get::<Option<String>>(index + 2)?;
    }
    Ok(ChainedEntry {
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
