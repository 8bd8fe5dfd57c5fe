//! The byte format of a packed month: each word is written once, and entries refer to it by its index.

use std::collections::HashMap;

use base::category::Category;
use base::{AccountId, TransactionId};
use calc::ledger::{EntryFlags, TransferKind};

use crate::insights::byte_reader::ByteReader;
use crate::insights::household_ledger::entries::LedgerEntry;

/// The entries of one month, in the order in which they were added.
#[derive(Default)]
pub(super) struct PackedMonth {
    /// Category codes and transfer kinds.
    codes: WordTable,
    merchant_keys: WordTable,
    counterparties: WordTable,
    entries: Vec<u8>,
}

impl PackedMonth {
    pub(super) fn add(&mut self, entry: &LedgerEntry<'_>) {
        let category = entry.category.map(|it| self.codes.index_of(it.detailed()));
        let transfer = entry.transfer.map(|it| self.codes.index_of(it.as_str()));
        let key = self.merchant_keys.index_of(entry.merchant_key);
        let counterparty = self.counterparties.index_of(entry.counterparty);
        self.entries.extend_from_slice(entry.id.as_bytes());
        self.entries.extend_from_slice(entry.account.as_bytes());
        self.entries.extend_from_slice(&entry.on_days.to_le_bytes());
        self.entries.extend_from_slice(&entry.amount_minor.to_le_bytes());
        for index in [category.unwrap_or(NONE), transfer.unwrap_or(NONE), key, counterparty] {
            self.entries.extend_from_slice(&index.to_le_bytes());
        }
        self.entries.push(pack_signs(entry.signs));
    }

    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.entries.len() + 4096);
        self.codes.write(&mut bytes);
        self.merchant_keys.write(&mut bytes);
        self.counterparties.write(&mut bytes);
        bytes.extend_from_slice(&self.entries);
        bytes
    }
}

/// Visits the entries of a packed month. None if the bytes are cut off or hold an unknown word.
pub(super) fn unpack(bytes: &[u8], mut visit: impl FnMut(&LedgerEntry<'_>)) -> Option<()> {
    let mut reader = ByteReader(bytes);
    let codes = reader.words()?;
    let codes: Vec<(Option<Category>, Option<TransferKind>)> =
        codes.into_iter().map(|it| (Category::parse(it), TransferKind::parse(it))).collect();
    let keys = reader.words()?;
    let counterparties = reader.words()?;
    while !reader.0.is_empty() {
        let (id, account) = (reader.take()?, reader.take()?);
        let (on_days, amount_minor) = (reader.take()?, reader.take()?);
        let (category, transfer) = (reader.index()?, reader.index()?);
        let (key, counterparty) = (reader.index()?, reader.index()?);
        let [signs] = reader.take()?;
        visit(&LedgerEntry {
            id: TransactionId::from_bytes(id),
            account: AccountId::from_bytes(account),
            on_days: i64::from_le_bytes(on_days),
            amount_minor: i64::from_le_bytes(amount_minor),
            category: match category {
                NO_INDEX => None,
                index => Some(codes.get(index)?.0?),
            },
            merchant_key: keys.get(key)?,
            counterparty: counterparties.get(counterparty)?,
            transfer: match transfer {
                NO_INDEX => None,
                index => Some(codes.get(index)?.1?),
            },
            signs: unpack_signs(signs),
        });
    }
    Some(())
}

/// The index where an entry has no category or no transfer kind.
const NONE: u32 = u32::MAX;
const NO_INDEX: usize = NONE as usize;

#[derive(Default)]
struct WordTable {
    indexes: HashMap<String, u32>,
    bytes: Vec<u8>,
}

impl WordTable {
    fn index_of(&mut self, word: &str) -> u32 {
        if let Some(index) = self.indexes.get(word) {
            return *index;
        }
        let index = self.indexes.len() as u32;
        self.indexes.insert(word.to_owned(), index);
        self.bytes.extend_from_slice(&(word.len() as u32).to_le_bytes());
        self.bytes.extend_from_slice(word.as_bytes());
        index
    }

    fn write(&self, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(&(self.indexes.len() as u32).to_le_bytes());
        bytes.extend_from_slice(&self.bytes);
    }
}

fn pack_signs(signs: EntryFlags) -> u8 {
    let EntryFlags { refund, person, payroll, gig, benefit } = signs;
    let all = [refund, person, payroll, gig, benefit];
    all.into_iter().enumerate().map(|(bit, it)| u8::from(it) << bit).sum()
}

fn unpack_signs(signs: u8) -> EntryFlags {
    let has = |bit: u8| signs & (1 << bit) != 0;
    EntryFlags { refund: has(0), person: has(1), payroll: has(2), gig: has(3), benefit: has(4) }
}
