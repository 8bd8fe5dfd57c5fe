//! Saves the trades of an import. The cost of positions is computed from them when they are read.

use base::draft::TradeDraft;
use base::{AccountId, ImportId, UserId};
use db::{Param, Tx, params};

use super::batch::Batch;
use crate::Result;

pub(super) fn save(
    tx: &mut Tx<'_>,
    batch: &mut Batch,
    account: AccountId,
    trades: &[TradeDraft],
) -> Result<()> {
    let quantities: Vec<(String, Option<String>)> = trades
        .iter()
        .map(|it| (it.quantity.to_string(), it.per.map(|it| it.to_string())))
        .collect();
    // Several accounts of a file may be imported into one account, so trades are numbered over all of them.
    let first = batch.trades;
    batch.trades += i64::try_from(trades.len()).unwrap_or(i64::MAX);
    let rows = (first..).zip(trades).zip(&quantities).map(|((number, it), (quantity, per))| {
        let values: [Param<'_>; 11] = [
            batch.user.into(),
            account.into(),
            batch.id.into(),
            number.into(),
            (&it.external_id).into(),
            (&it.security).into(),
            it.on.into(),
            it.kind.as_str().into(),
            quantity.into(),
            per.into(),
            it.amount_minor.into(),
        ];
        values
    });
    let columns = [
        "user_id",
        "account_id",
        "import_id",
        "number",
        "external_id",
        "security",
        "traded_on",
        "kind",
        "quantity",
        "per_quantity",
        "amount_minor",
    ];
    tx.insert_many("trades", columns, rows)?;
    Ok(())
}

/// Deletes the trades of an import that is undone.
pub(super) fn delete(tx: &mut Tx<'_>, user: UserId, import: ImportId) -> Result<()> {
    tx.execute(DELETE, params![user, import])?;
    Ok(())
}

const DELETE: &str = "delete from trades where user_id = $1 and import_id = $2";

pub(super) const STATEMENTS: &[&str] = &[DELETE];
