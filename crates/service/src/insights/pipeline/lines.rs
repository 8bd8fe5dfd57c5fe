//! What the ledger reads of a transaction.

use base::category::Category;
use base::{AccountId, Date, TransactionId, UserId};
use calc::enrich::{self, Flag};
use calc::ledger::{Signs, TransferKind};
use db::{Tx, params};

use crate::Result;

/// A posted transaction, in its account's currency.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Line<'a> {
    pub(super) id: TransactionId,
    pub(super) account: AccountId,
    pub(super) on_days: i64,
    pub(super) amount_minor: i64,
    pub(super) category: Option<Category>,
    pub(super) key: &'a str,
    pub(super) transfer: Option<TransferKind>,
    /// Only what comes in from elsewhere is judged by its text, so only that text is read.
    pub(super) signs: Signs,
}

/// Visits what was posted on a day or later, oldest first.
pub(super) fn each(
    tx: &mut Tx<'_>,
    user: UserId,
    from: Date,
    visit: &mut (dyn FnMut(&Line<'_>) + Send),
) -> Result<()> {
    let from = base::days_from_date(from);
    between(tx, user, (from, i64::MAX), visit)
}

pub(super) fn between(
    tx: &mut Tx<'_>,
    user: UserId,
    (first, last): (i64, i64),
    visit: &mut (dyn FnMut(&Line<'_>) + Send),
) -> Result<()> {
    let visit = |row: &db::Row<'_>| {
        visit(&read(row)?);
        Ok(())
    };
    Ok(tx.each(LINES, params![user, first, last], visit)?)
}

fn read<'a>(row: &'a db::Row<'_>) -> db::Result<Line<'a>> {
    let (category, kind): (Option<&str>, Option<&str>) = (row.get(4)?, row.get(6)?);
    let amount_minor: i64 = row.get(3)?;
    let transfer = kind.and_then(TransferKind::parse);
    let is_judged = amount_minor > 0 && transfer.is_none();
    Ok(Line {
        id: row.get(0)?,
        account: row.get(1)?,
        on_days: row.get(2)?,
        amount_minor,
        category: category.and_then(Category::parse),
        key: row.get::<Option<&str>>(5)?.unwrap_or_default(),
        transfer,
        signs: if is_judged { signs(row.get(7)?) } else { Signs::default() },
    })
}

fn signs(description: &str) -> Signs {
    let cleaned = enrich::clean(description);
    let is = |flag: Flag| cleaned.merchant.is_some_and(|it| it.is(flag));
    Signs {
        refund: cleaned.refund_words,
        person: cleaned.person,
        payroll: is(Flag::Payroll),
        gig: is(Flag::Gig),
        benefit: is(Flag::Benefit),
    }
}

const LINES: &str =
    "select id, account_id, posted_on, amount_minor, category, merchant_key, transfer_kind, description
    from transactions where user_id = $1 and posted_on between $2 and $3 and state = 'posted'
    order by posted_on, id";

pub(super) const STATEMENTS: &[&str] = &[LINES];
