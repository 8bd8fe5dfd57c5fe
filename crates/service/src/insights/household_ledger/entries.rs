//! The transactions of the household ledger.

use base::category::Category;
use base::split::{self, SplitPart};
use base::{AccountId, Date, TransactionId, UserId, date_from_days, days_from_date};
use calc::enrich::{self, Flag};
use calc::ledger::{EntryFlags, TransferKind};
use db::{Tx, params};

use crate::Result;
use crate::ledger::transactions::row::counted_parts;

/// Twelve whole months before this one, and the days before them in which a refund's purchase can lie.
const WINDOW_DAYS: i64 = 396 + 130;

/// The first day that the ledger covers.
pub(super) fn window_start(today: Date) -> Date {
    date_from_days(days_from_date(today) - WINDOW_DAYS)
}

/// A posted transaction, in its account's currency.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct LedgerEntry<'a> {
    pub(super) id: TransactionId,
    pub(super) account: AccountId,
    pub(super) on_days: i64,
    pub(super) amount_minor: i64,
    pub(super) category: Option<Category>,
    pub(super) merchant_key: &'a str,
    /// The counterparty as lists show it; empty if it is not known.
    pub(super) counterparty: &'a str,
    pub(super) transfer: Option<TransferKind>,
    /// Read from the description of inflows that are no transfer; default for all others.
    pub(super) signs: EntryFlags,
}

/// Visits the transactions posted on a day or later, oldest first.
pub(super) fn each_since(
    tx: &mut Tx<'_>,
    user: UserId,
    from: Date,
    visit: &mut (dyn FnMut(&LedgerEntry<'_>) + Send),
) -> Result<()> {
    let from = days_from_date(from);
    each_between(tx, user, (from, i64::MAX), visit)
}

/// Visits the transactions posted on some days, oldest first. The parts of a split one come one after another.
pub(super) fn each_between(
    tx: &mut Tx<'_>,
    user: UserId,
    (first, last): (i64, i64),
    visit: &mut (dyn FnMut(&LedgerEntry<'_>) + Send),
) -> Result<()> {
    let visit = |row: &db::Row<'_>| {
        let entry = read(row)?;
        match counted_parts(row, entry.amount_minor, 9)? {
            None => visit(&entry),
            Some(parts) => each_part(&entry, parts, visit),
        }
        Ok(())
    };
    Ok(tx.each(ENTRIES, params![user, first, last], visit)?)
}

/// Visits each part of a split transaction as an entry with the id of the whole.
fn each_part(
    whole: &LedgerEntry<'_>,
    parts: &str,
    visit: &mut (dyn FnMut(&LedgerEntry<'_>) + Send),
) {
    for part in split::read(parts).flatten() {
        let SplitPart { amount_minor, category, .. } = part;
        visit(&LedgerEntry { amount_minor, category: Some(category), ..*whole });
    }
}

fn read<'a>(row: &'a db::Row<'_>) -> db::Result<LedgerEntry<'a>> {
    let amount_minor: i64 = row.get(3)?;
    let transfer = row.optional_word(6, "transfer kind", TransferKind::parse)?;
    let has_signs = amount_minor > 0 && transfer.is_none();
    Ok(LedgerEntry {
        id: row.get(0)?,
        account: row.get(1)?,
        on_days: row.get(2)?,
        amount_minor,
        category: row.optional_word(4, "category", Category::parse)?,
        merchant_key: row.get::<Option<&str>>(5)?.unwrap_or_default(),
        counterparty: row.get::<Option<&str>>(8)?.unwrap_or_default(),
        transfer,
        signs: if has_signs { signs(row.get(7)?) } else { EntryFlags::default() },
    })
}

fn signs(description: &str) -> EntryFlags {
    let cleaned = enrich::clean(description);
    let is = |flag: Flag| cleaned.merchant.is_some_and(|it| it.is(flag));
    EntryFlags {
        refund: cleaned.refund_words,
        person: cleaned.person,
        payroll: is(Flag::Payroll),
        gig: is(Flag::Gig),
        benefit: is(Flag::Benefit),
    }
}

// Few columns on purpose: a full recompute reads a year and a half of transactions.
const ENTRIES: &str =
    "select id, account_id, posted_on, amount_minor, category, merchant_key, transfer_kind, description,
    counterparty, split_minor, splits
    from transactions where user_id = $1 and posted_on between $2 and $3 and state = 'posted'
    order by posted_on, id";

pub(super) const STATEMENTS: &[&str] = &[ENTRIES];
