//! What was exported from here: the zip file with everything, or its list of transactions alone.

mod shapes;
#[cfg(test)]
mod tests;
mod zip;

use std::collections::BTreeMap;

use crate::apart::tell_apart;

use super::{FileAccount, FileError, Format, Hints, ROWS_MAX, Reading, Rejections};
use shapes::{AccountShape, BalanceShape, HeldShape, TransactionShape};
use zip::Zip;

pub(super) fn looks_like(bytes: &[u8]) -> bool {
    if bytes.starts_with(b"PK\x03\x04") {
        return Zip::open(bytes).is_some_and(|it| it.has("transactions.json"));
    }
    let head = &bytes[..bytes.len().min(4_096)];
    let head = String::from_utf8_lossy(head);
    head.trim_start().starts_with("[") && head.contains("\"cash_flow_direction\"")
}

pub(super) fn read(bytes: &[u8], _: &Hints) -> Result<Reading, FileError> {
    let mut book = Book::default();
    if !bytes.starts_with(b"PK\x03\x04") {
        book.transactions(bytes)?;
        return Ok(book.finish());
    }
    let zip = Zip::open(bytes).ok_or_else(|| broken("the zip file is cut or damaged"))?;
    let part = |name: &str| {
        let found = zip.read(name);
        found.ok_or_else(|| broken(&format!("{name} within it cannot be unpacked")))
    };
    book.accounts(&part("accounts.json")?)?;
    book.balances(&part("balances.json")?)?;
    book.transactions(&part("transactions.json")?)?;
    book.holdings(&part("investments.json")?)?;
    Ok(book.finish())
}

fn broken(reason: &str) -> FileError {
    FileError::Broken { format: Format::Evenkeel, reason: reason.to_owned() }
}

/// The accounts by their ids, which sort by when they were made.
#[derive(Default)]
struct Book {
    accounts: BTreeMap<String, FileAccount>,
    rejected: Rejections,
}

impl Book {
    fn accounts(&mut self, json: &[u8]) -> Result<(), FileError> {
        for (place, shape) in rows::<AccountShape<'_>>("accounts.json", json)?.iter().enumerate() {
            match shape.draft() {
                Ok(draft) => {
                    let account = FileAccount { bank: None, draft };
                    self.accounts.insert(shape.id.to_string(), account);
                }
                Err(reason) => self.reject("account", place, &reason),
            }
        }
        Ok(())
    }

    fn balances(&mut self, json: &[u8]) -> Result<(), FileError> {
        for (place, shape) in rows::<BalanceShape<'_>>("balances.json", json)?.iter().enumerate() {
            let Some(account) = self.accounts.get_mut(&*shape.account_id) else { continue };
            match shape.balance(account.draft.currency) {
                Ok(balance) => account.draft.past_balances.push(balance),
                Err(reason) => self.reject("balance", place, &reason),
            }
        }
        Ok(())
    }

    fn transactions(&mut self, json: &[u8]) -> Result<(), FileError> {
        let shapes = rows::<TransactionShape<'_>>("transactions.json", json)?;
        for (place, shape) in shapes.iter().enumerate().take(ROWS_MAX) {
            match shape.draft() {
                Ok(row) => {
                    let id = shape.account_id.to_string();
                    let account = self.accounts.entry(id).or_insert_with(|| shape.account());
                    if account.draft.currency == row.amount.currency() {
                        account.draft.transactions.push(row);
                    } else {
                        let reason = "it is in another currency than its account";
                        self.reject("transaction", place, reason);
                    }
                }
                Err(reason) => self.reject("transaction", place, &reason),
            }
        }
        Ok(())
    }

    fn holdings(&mut self, json: &[u8]) -> Result<(), FileError> {
        for (place, shape) in rows::<HeldShape<'_>>("investments.json", json)?.iter().enumerate() {
            let Some(account) = self.accounts.get_mut(&*shape.account_id) else { continue };
            match shape.draft() {
                Ok(held) => account.draft.holdings.get_or_insert_default().push(held),
                Err(reason) => self.reject("holding", place, &reason),
            }
        }
        Ok(())
    }

    /// Each row stands on a line of its own, below a line with the bracket.
    fn reject(&mut self, what: &str, place: usize, reason: &str) {
        self.rejected.add(place + 2, format!("a {what} makes no sense: {reason}"));
    }

    fn finish(mut self) -> Reading {
        for account in self.accounts.values_mut() {
            tell_apart(&mut account.draft.transactions);
            account.draft.past_balances.sort_by_key(|it| it.on);
            account.draft.past_balances.dedup_by_key(|it| it.on);
        }
        Reading {
            format: Format::Evenkeel,
            accounts: self.accounts.into_values().collect(),
            rejected: self.rejected,
            doubts: Vec::new(),
        }
    }
}

/// A sentence, not the file.
fn cut(error: &serde_json::Error) -> String {
    error.to_string().chars().take(200).collect()
}

fn rows<'a, T: serde::Deserialize<'a>>(name: &str, json: &'a [u8]) -> Result<Vec<T>, FileError> {
    serde_json::from_slice(json)
        .map_err(|error| broken(&format!("{name} is no list as we write it: {}", cut(&error))))
}
