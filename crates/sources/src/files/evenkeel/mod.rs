//! Our own exports: the zip file with everything, or its list of transactions alone.

mod records;
mod rows;
#[cfg(test)]
mod tests;
mod zip;

use std::collections::BTreeMap;
use std::io::Read;

use crate::unique_ids::deduplicate_ids;

use super::limits::{ACCOUNTS_MAX, Limits};
use super::{FileAccount, FileContents, FileError, Format, Notes, ParseOptions, Rejections};
use records::{AccountRecord, BalanceRecord, HoldingRecord, TransactionRecord};
use rows::each_row;
use zip::{Budget, Zip};

const ACCOUNTS: &str = "accounts.json";
const BALANCES: &str = "balances.json";
const TRANSACTIONS: &str = "transactions.json";
const HOLDINGS: &str = "investments.json";

pub(super) fn looks_like(bytes: &[u8]) -> bool {
    if bytes.starts_with(b"PK\x03\x04") {
        return Zip::open(bytes).is_some_and(|it| it.has(TRANSACTIONS));
    }
    let head = &bytes[..bytes.len().min(4_096)];
    let head = String::from_utf8_lossy(head);
    head.trim_start().starts_with("[") && head.contains("\"cash_flow_direction\"")
}

pub(super) fn read(bytes: &[u8], options: &ParseOptions) -> Result<FileContents, FileError> {
    let mut reader = ExportReader::new(options.limits);
    if !bytes.starts_with(b"PK\x03\x04") {
        reader.transactions(bytes)?;
        return Ok(reader.finish());
    }
    let zip = Zip::open(bytes).ok_or_else(|| broken("the zip file is cut or damaged"))?;
    let most_bytes = options.limits.unpacked_bytes;
    let too_large = FileError::UnpacksTooLarge { most_bytes };
    // The stated size rejects a file at once; the real size is counted while unpacking.
    if zip.stated_bytes(&[ACCOUNTS, BALANCES, TRANSACTIONS, HOLDINGS]) > most_bytes {
        return Err(too_large);
    }
    let budget = Budget::new(most_bytes);
    let read = reader.parts(|name| {
        let part = zip.part(name, &budget);
        part.ok_or_else(|| broken(&format!("{name} within it cannot be unpacked")))
    });
    match read {
        Err(_) if budget.is_spent() => Err(too_large),
        read => read.map(|()| reader.finish()),
    }
}

fn broken(reason: &str) -> FileError {
    FileError::Broken { format: Format::Evenkeel, reason: reason.to_owned() }
}

/// The accounts by id; ids sort by creation.
struct ExportReader {
    accounts: BTreeMap<String, FileAccount>,
    rejected: Rejections,
    limits: Limits,
}

impl ExportReader {
    fn new(limits: Limits) -> ExportReader {
        ExportReader { accounts: BTreeMap::new(), rejected: Rejections::default(), limits }
    }

    fn parts<R: Read>(
        &mut self,
        part: impl Fn(&str) -> Result<R, FileError>,
    ) -> Result<(), FileError> {
        self.accounts(part(ACCOUNTS)?)?;
        self.balances(part(BALANCES)?)?;
        self.transactions(part(TRANSACTIONS)?)?;
        self.holdings(part(HOLDINGS)?)
    }

    fn accounts(&mut self, json: impl Read) -> Result<(), FileError> {
        let most = self.limits.rows;
        each_row(ACCOUNTS, json, most, |index, record: AccountRecord| match record.draft() {
            Ok(draft) => self.keep(record.id, FileAccount::new(None, draft)).map(drop),
            Err(reason) => {
                self.reject("account", index, &reason);
                Ok(())
            }
        })
    }

    fn balances(&mut self, json: impl Read) -> Result<(), FileError> {
        let most = self.limits.rows;
        each_row(BALANCES, json, most, |index, record: BalanceRecord| {
            let Some(account) = self.accounts.get_mut(&record.account_id) else { return Ok(()) };
            match record.balance(account.draft.currency) {
                Ok(balance) => account.draft.past_balances.push(balance),
                Err(reason) => self.reject("balance", index, &reason),
            }
            Ok(())
        })
    }

    fn transactions(&mut self, json: impl Read) -> Result<(), FileError> {
        let most = self.limits.rows;
        each_row(TRANSACTIONS, json, most, |index, record: TransactionRecord| {
            let row = match record.draft() {
                Ok(row) => row,
                Err(reason) => {
                    self.reject("transaction", index, &reason);
                    return Ok(());
                }
            };
            let account = match self.accounts.contains_key(&record.account_id) {
                true => self.accounts.get_mut(&record.account_id),
                false => Some(self.keep(record.account_id.clone(), record.account())?),
            };
            match account.filter(|it| it.draft.currency == row.amount.currency()) {
                Some(account) => account.draft.transactions.push(row),
                None => {
                    let reason = "it is in another currency than its account";
                    self.reject("transaction", index, reason);
                }
            }
            Ok(())
        })
    }

    fn holdings(&mut self, json: impl Read) -> Result<(), FileError> {
        let most = self.limits.rows;
        each_row(HOLDINGS, json, most, |index, record: HoldingRecord| {
            let Some(account) = self.accounts.get_mut(&record.account_id) else { return Ok(()) };
            match record.draft() {
                Ok(held) => account.draft.holdings.get_or_insert_default().push(held),
                Err(reason) => self.reject("holding", index, &reason),
            }
            Ok(())
        })
    }

    fn keep(&mut self, id: String, account: FileAccount) -> Result<&mut FileAccount, FileError> {
        if self.accounts.len() == ACCOUNTS_MAX && !self.accounts.contains_key(&id) {
            return Err(broken(&format!("it has more than {ACCOUNTS_MAX} accounts")));
        }
        let entry = self.accounts.entry(id);
        Ok(entry.insert_entry(account).into_mut())
    }

    /// Records a rejected row. Each row stands on its own line, below a line with the bracket.
    fn reject(&mut self, kind: &str, index: usize, reason: &str) {
        self.rejected.add(index + 2, format!("a {kind} makes no sense: {reason}"));
    }

    fn finish(mut self) -> FileContents {
        for account in self.accounts.values_mut() {
            deduplicate_ids(&mut account.draft.transactions);
            account.draft.past_balances.sort_by_key(|it| it.on);
            account.draft.past_balances.dedup_by_key(|it| it.on);
        }
        FileContents {
            format: Format::Evenkeel,
            accounts: self.accounts.into_values().collect(),
            rejected: self.rejected,
            notes: Notes::default(),
            questions: Vec::new(),
            assumed_currency: None,
        }
    }
}

/// The parser's message without the part of the file it quotes.
fn cut(error: &serde_json::Error) -> String {
    error.to_string().chars().take(200).collect()
}
