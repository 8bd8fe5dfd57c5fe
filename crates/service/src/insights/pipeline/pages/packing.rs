//! Many lines in few bytes: words are written once, and lines name them by their place.

use std::collections::HashMap;

use base::category::Category;
use base::{AccountId, TransactionId};
use calc::ledger::{Signs, TransferKind};

use crate::insights::pipeline::lines::Line;

/// Lines of one month, in the order in which they were added.
#[derive(Default)]
pub(super) struct Page {
    /// Codes of categories and of kinds of transfers.
    codes: Words,
    keys: Words,
    lines: Vec<u8>,
}

impl Page {
    pub(super) fn add(&mut self, line: &Line<'_>) {
        let category = line.category.map(|it| self.codes.place(it.detailed()));
        let transfer = line.transfer.map(|it| self.codes.place(it.as_str()));
        let key = self.keys.place(line.key);
        self.lines.extend_from_slice(line.id.as_bytes());
        self.lines.extend_from_slice(line.account.as_bytes());
        self.lines.extend_from_slice(&line.on_days.to_le_bytes());
        self.lines.extend_from_slice(&line.amount_minor.to_le_bytes());
        for place in [category.unwrap_or(NONE), transfer.unwrap_or(NONE), key] {
            self.lines.extend_from_slice(&place.to_le_bytes());
        }
        self.lines.push(packed_signs(line.signs));
    }

    pub(super) fn packed(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.lines.len() + 4096);
        self.codes.write(&mut bytes);
        self.keys.write(&mut bytes);
        bytes.extend_from_slice(&self.lines);
        bytes
    }
}

/// Visits the lines of a page; nothing when the bytes are not one.
pub(super) fn unpack(bytes: &[u8], mut visit: impl FnMut(&Line<'_>)) -> Option<()> {
    let mut reader = Reader(bytes);
    let codes = reader.words()?;
    let codes: Vec<(Option<Category>, Option<TransferKind>)> =
        codes.into_iter().map(|it| (Category::parse(it), TransferKind::parse(it))).collect();
    let keys = reader.words()?;
    while !reader.0.is_empty() {
        let (id, account) = (reader.take()?, reader.take()?);
        let (on_days, amount_minor) = (reader.take()?, reader.take()?);
        let (category, transfer, key) = (reader.place()?, reader.place()?, reader.place()?);
        let [signs] = reader.take()?;
        visit(&Line {
            id: TransactionId::from_bytes(id),
            account: AccountId::from_bytes(account),
            on_days: i64::from_le_bytes(on_days),
            amount_minor: i64::from_le_bytes(amount_minor),
            category: codes.get(category).and_then(|it| it.0),
            key: keys.get(key)?,
            transfer: codes.get(transfer).and_then(|it| it.1),
            signs: unpacked_signs(signs),
        });
    }
    Some(())
}

/// The place of a word that is not there.
const NONE: u32 = u32::MAX;

#[derive(Default)]
struct Words {
    places: HashMap<String, u32>,
    bytes: Vec<u8>,
}

impl Words {
    fn place(&mut self, word: &str) -> u32 {
        if let Some(place) = self.places.get(word) {
            return *place;
        }
        let place = self.places.len() as u32;
        self.places.insert(word.to_owned(), place);
        self.bytes.extend_from_slice(&(word.len() as u32).to_le_bytes());
        self.bytes.extend_from_slice(word.as_bytes());
        place
    }

    fn write(&self, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(&(self.places.len() as u32).to_le_bytes());
        bytes.extend_from_slice(&self.bytes);
    }
}

struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (head, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*head)
    }

    fn place(&mut self) -> Option<usize> {
        self.take().map(|it| u32::from_le_bytes(it) as usize)
    }

    fn words(&mut self) -> Option<Vec<&'a str>> {
        let count = self.place()?;
        let word = |_| {
            let length = self.place()?;
            let (word, rest) = self.0.split_at_checked(length)?;
            self.0 = rest;
            std::str::from_utf8(word).ok()
        };
        (0..count).map(word).collect()
    }
}

fn packed_signs(signs: Signs) -> u8 {
    let Signs { refund, person, payroll, gig, benefit } = signs;
    let all = [refund, person, payroll, gig, benefit];
    all.into_iter().enumerate().map(|(place, it)| u8::from(it) << place).sum()
}

fn unpacked_signs(signs: u8) -> Signs {
    let has = |place: u8| signs & (1 << place) != 0;
    Signs { refund: has(0), person: has(1), payroll: has(2), gig: has(3), benefit: has(4) }
}
