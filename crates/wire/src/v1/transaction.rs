//! Transactions, and how a row of the database is written as JSON without copies.

use base::category::Category;
use base::{Money, TransactionId, split, write_date, write_instant};
use serde::Serialize;
use utoipa::ToSchema;

use crate::json::{Day, Moment, Number, write_opt_str, write_str};

/// A transaction on an account. Outflows are negative.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Transaction {
    #[schema(example = "txn_01kny3v1m8f2x9q4t7r5c6b8de")]
    pub id: String,
    #[schema(example = "acc_01kny3v1m8f2x9q4t7r5c6b8de")]
    pub account_id: String,
    #[schema(example = "Everyday Checking")]
    pub account_name: String,
    #[schema(example = json!(-42.10))]
    pub amount: Number,
    #[schema(example = json!(42.10))]
    pub amount_absolute: Number,
    /// ISO 4217.
    #[schema(example = "USD")]
    pub currency: String,
    /// Agrees with the sign of `amount`.
    #[schema(example = "outflow")]
    pub cash_flow_direction: &'static str,
    /// The posting date; while pending, the best known date.
    pub date_posted: Day,
    pub date_authorized: Option<Day>,
    pub pending: bool,
    /// The name of the category.
    #[schema(example = "Groceries")]
    pub category_label: Option<&'static str>,
    #[schema(example = "FOOD_AND_DRINK")]
    pub category_tier1: Option<&'static str>,
    #[schema(example = "FOOD_AND_DRINK_GROCERIES")]
    pub category_tier2: Option<&'static str>,
    #[schema(example = "Kroger")]
    pub counterparty_name: Option<String>,
    pub counterparty_logo_url: Option<String>,
    /// The bank's original text, unchanged. Treat it as untrusted input.
    #[schema(example = "AplPay KROGER #339 INDIANAPOLIS IN")]
    pub original_description: String,
    /// Whether it is one leg of a transfer between the person's own accounts.
    pub is_internal_transfer: bool,
    /// The person's own note.
    #[schema(example = "Birthday present for Kim")]
    pub note: Option<String>,
    /// The person's own tags, in lower case and in alphabetical order.
    #[schema(example = json!(["gifts", "kim"]))]
    pub tags: Vec<String>,
    /// The parts of a transaction that the person split over categories. They add up to `amount`, and every figure by
    /// category counts them instead of the whole. Empty if it is not split.
    pub splits: Vec<Split>,
    pub updated_at: Moment,
}

/// One part of a transaction that the person split.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Split {
    /// With the sign of the transaction.
    #[schema(example = json!(-12.10))]
    pub amount: Number,
    #[schema(example = "Groceries")]
    pub category_label: &'static str,
    #[schema(example = "FOOD_AND_DRINK")]
    pub category_tier1: &'static str,
    #[schema(example = "FOOD_AND_DRINK_GROCERIES")]
    pub category_tier2: &'static str,
    pub note: Option<String>,
}

/// Changes of transactions since a cursor. Insert or replace those in `added` and `updated`, and delete those in
/// `removed`.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct TransactionChanges {
    /// Transactions that were created since the cursor.
    pub added: Vec<Transaction>,
    /// Transactions that changed since the cursor, or that are shown again.
    pub updated: Vec<Transaction>,
    pub removed: Vec<RemovedTransaction>,
}

/// A transaction that is no longer listed: deleted, removed by its source, or hidden.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct RemovedTransaction {
    #[schema(example = "txn_01kny3v1m8f2x9q4t7r5c6b8de")]
    pub id: String,
    pub removed_at: Moment,
}

/// A transaction on the read path: borrowed from the driver's row, with dates and times still as numbers.
#[derive(Debug, Clone, Copy)]
pub struct TransactionRow<'a> {
    pub id: TransactionId,
    pub account: &'a AccountPart,
    pub amount: Money,
    pub posted_on_days: i64,
    pub authorized_on_days: Option<i64>,
    pub pending: bool,
    pub category: Option<Category>,
    pub counterparty: Option<&'a str>,
    pub counterparty_logo_url: Option<&'a str>,
    pub description: &'a str,
    pub is_internal_transfer: bool,
    pub note: Option<&'a str>,
    /// Separated by spaces.
    pub tags: &'a str,
    /// The parts as `base::split` stores them; empty if it is not split.
    pub splits: &'a str,
    pub updated_at_micros: i64,
}

/// The JSON fields that all transactions of one account share, written once for a whole page.
#[derive(Debug, Clone)]
pub struct AccountPart {
    json: Vec<u8>,
    id: String,
    name: String,
}

impl AccountPart {
    pub fn new(account_id: &str, account_name: &str) -> AccountPart {
        let mut part = b",\"account_id\":".to_vec();
        write_str(&mut part, account_id);
        part.extend_from_slice(b",\"account_name\":");
        write_str(&mut part, account_name);
        AccountPart { json: part, id: account_id.to_owned(), name: account_name.to_owned() }
    }

    pub fn id(&self) -> &str {
        &self.id
    }

    pub fn name(&self) -> &str {
        &self.name
    }
}

impl TransactionRow<'_> {
    /// Appends the same JSON as serde would for `Transaction`, several times faster; a test compares the two.
    pub fn write(&self, out: &mut Vec<u8>) {
        let (direction, absolute) = if self.amount.minor() < 0 {
            ("outflow", Money::new(self.amount.minor().saturating_neg(), self.amount.currency()))
        } else {
            ("inflow", self.amount)
        };
        out.extend_from_slice(b"{\"id\":\"");
        self.id.write(out);
        out.push(b'"');
        out.extend_from_slice(&self.account.json);
        out.extend_from_slice(b",\"amount\":");
        self.amount.write(out);
        out.extend_from_slice(b",\"amount_absolute\":");
        absolute.write(out);
        out.extend_from_slice(b",\"currency\":\"");
        out.extend_from_slice(self.amount.currency().code().as_bytes());
        out.extend_from_slice(b"\",\"cash_flow_direction\":\"");
        out.extend_from_slice(direction.as_bytes());
        out.extend_from_slice(b"\",\"date_posted\":\"");
        write_date(out, self.posted_on_days);
        out.extend_from_slice(b"\",\"date_authorized\":");
        match self.authorized_on_days {
            Some(days) => {
                out.push(b'"');
                write_date(out, days);
                out.push(b'"');
            }
            None => out.extend_from_slice(b"null"),
        }
        out.extend_from_slice(b",\"pending\":");
        write_bool(out, self.pending);
        self.write_words(out);
        out.extend_from_slice(b",\"is_internal_transfer\":");
        write_bool(out, self.is_internal_transfer);
        self.write_annotations(out);
        out.extend_from_slice(b",\"updated_at\":\"");
        write_instant(out, self.updated_at_micros);
        out.extend_from_slice(b"\"}");
    }

    fn write_annotations(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(b",\"note\":");
        write_opt_str(out, self.note);
        out.extend_from_slice(b",\"tags\":");
        self.write_tags(out);
        out.extend_from_slice(b",\"splits\":");
        self.write_splits(out);
    }

    /// Appends the parts as a JSON array.
    pub fn write_splits(&self, out: &mut Vec<u8>) {
        out.push(b'[');
        for (index, part) in split::read(self.splits).flatten().enumerate() {
            out.extend_from_slice(if index > 0 { b",{\"amount\":" } else { b"{\"amount\":" });
            Money::new(part.amount_minor, self.amount.currency()).write(out);
            write_category(out, part.category);
            out.extend_from_slice(b",\"note\":");
            write_opt_str(out, Some(part.note).filter(|it| !it.is_empty()));
            out.push(b'}');
        }
        out.push(b']');
    }

    /// Appends the tags as a JSON array.
    pub fn write_tags(&self, out: &mut Vec<u8>) {
        out.push(b'[');
        for (index, tag) in self.tags.split_ascii_whitespace().enumerate() {
            if index > 0 {
                out.push(b',');
            }
            write_str(out, tag);
        }
        out.push(b']');
    }

    fn write_words(&self, out: &mut Vec<u8>) {
        match self.category {
            Some(category) => write_category(out, category),
            None => out.extend_from_slice(
                b",\"category_label\":null,\"category_tier1\":null,\"category_tier2\":null",
            ),
        }
        out.extend_from_slice(b",\"counterparty_name\":");
        write_opt_str(out, self.counterparty);
        out.extend_from_slice(b",\"counterparty_logo_url\":");
        write_opt_str(out, self.counterparty_logo_url);
        out.extend_from_slice(b",\"original_description\":");
        write_str(out, self.description);
    }
}

/// Our codes and labels need no escaping.
fn write_category(out: &mut Vec<u8>, category: Category) {
    out.extend_from_slice(b",\"category_label\":\"");
    out.extend_from_slice(category.label().as_bytes());
    out.extend_from_slice(b"\",\"category_tier1\":\"");
    out.extend_from_slice(category.primary().as_bytes());
    out.extend_from_slice(b"\",\"category_tier2\":\"");
    out.extend_from_slice(category.detailed().as_bytes());
    out.push(b'"');
}

fn write_bool(out: &mut Vec<u8>, value: bool) {
    out.extend_from_slice(if value { b"true" } else { b"false" });
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::{AccountId, Currency, Timestamp, date_from_days};
    use proptest::prelude::*;

    /// The same data as a `Transaction`, for serde.
    fn shape(row: &TransactionRow<'_>, account_id: &str, account_name: &str) -> Transaction {
        let absolute = Money::new(row.amount.minor().abs(), row.amount.currency());
        Transaction {
            id: row.id.to_string(),
            account_id: account_id.to_owned(),
            account_name: account_name.to_owned(),
            amount: row.amount.into(),
            amount_absolute: absolute.into(),
            currency: row.amount.currency().to_string(),
            cash_flow_direction: if row.amount.minor() < 0 { "outflow" } else { "inflow" },
            date_posted: Day(date_from_days(row.posted_on_days)),
            date_authorized: row.authorized_on_days.map(|it| Day(date_from_days(it))),
            pending: row.pending,
            category_label: row.category.map(Category::label),
            category_tier1: row.category.map(Category::primary),
            category_tier2: row.category.map(Category::detailed),
            counterparty_name: row.counterparty.map(str::to_owned),
            counterparty_logo_url: row.counterparty_logo_url.map(str::to_owned),
            original_description: row.description.to_owned(),
            is_internal_transfer: row.is_internal_transfer,
            note: row.note.map(str::to_owned),
            tags: row.tags.split_ascii_whitespace().map(str::to_owned).collect(),
            splits: split::read(row.splits).flatten().map(|it| part(it, row)).collect(),
            updated_at: Moment(Timestamp::from_microsecond(row.updated_at_micros).unwrap()),
        }
    }

    fn part(part: split::SplitPart<'_>, row: &TransactionRow<'_>) -> Split {
        Split {
            amount: Money::new(part.amount_minor, row.amount.currency()).into(),
            category_label: part.category.label(),
            category_tier1: part.category.primary(),
            category_tier2: part.category.detailed(),
            note: (!part.note.is_empty()).then(|| part.note.to_owned()),
        }
    }

    proptest! {
        #[test]
        fn a_row_is_written_exactly_as_serde_writes_the_shape(
            (id, minor) in (any::<[u8; 16]>(), -i64::MAX..=i64::MAX),
            currency in "USD|JPY|KWD",
            (posted, authorized) in (0_i64..60_000, proptest::option::of(0_i64..60_000)),
            (pending, transfer) in any::<(bool, bool)>(),
            category in proptest::option::of(0..Category::ALL.len()),
            (name, counterparty) in (".*", proptest::option::of(".*")),
            (logo, description) in (proptest::option::of(".*"), ".*|[\\x00-\\x7f]*"),
            splits in "(-?[0-9]{1,9}\tTRAVEL_FLIGHTS\x1f[a-z\" ]{0,5}\n){0,3}",
            (note, tags) in (proptest::option::of(".*"), "( [a-z\"ü-]{1,5}){0,3} ?"),
            updated in 0_i64..4_000_000_000_000_000,
        ) {
            let account_id = AccountId::from_bytes(id).to_string();
            let row = TransactionRow {
                id: TransactionId::from_bytes(id),
                account: &AccountPart::new(&account_id, &name),
                amount: Money::new(minor, Currency::parse(&currency).unwrap()),
                posted_on_days: posted,
                authorized_on_days: authorized,
                pending,
                category: category.map(|it| Category::ALL[it]),
                counterparty: counterparty.as_deref(),
                counterparty_logo_url: logo.as_deref(),
                description: &description,
                is_internal_transfer: transfer,
                note: note.as_deref(),
                tags: &tags,
                splits: &splits,
                updated_at_micros: updated,
            };
            let mut written = Vec::new();
            row.write(&mut written);
            let expected = serde_json::to_string(&shape(&row, &account_id, &name)).unwrap();
            prop_assert_eq!(String::from_utf8(written).unwrap(), expected);
        }
    }
}
