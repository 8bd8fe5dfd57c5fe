//! Changes that migrations made to rows. A restore writes rows into a database whose migrations have already run, so rows
//! from an older backup must be changed in the same way afterwards.

use crate::{Result, Tx};

/// A statement that a migration ran, and the schema version that came out of it.
struct RowChange {
    schema: i64,
    sql: &'static str,
}

const ROW_CHANGES: [RowChange; 4] = [
    RowChange { schema: 11, sql: KEEPER_TO_ADMIN },
    RowChange { schema: 12, sql: INSTRUMENTS_OF_SECURITIES },
    RowChange { schema: 12, sql: INSTRUMENTS_OF_PAPER_POSITIONS },
    RowChange { schema: 12, sql: IDS_OF_PAPER_POSITIONS },
];

/// Changes rows from a backup of that schema version to what this version expects.
pub(super) fn upgrade_rows(tx: &mut Tx<'_>, backup_schema: i64) -> Result<()> {
    for change in ROW_CHANGES.iter().filter(|it| it.schema > backup_schema) {
        tx.execute(change.sql, &[])?;
    }
    Ok(())
}

const KEEPER_TO_ADMIN: &str = "update users set role = 'admin' where role = 'keeper'";
const INSTRUMENTS_OF_SECURITIES: &str =
    "insert into instruments (user_id, symbol, currency, class, id)
    select s.user_id, upper(trim(s.symbol)), s.currency, case s.kind
        when 'cryptocurrency' then 'cryptocurrency' when 'cash' then 'cash' else 'listed' end, s.id
    from securities s where trim(s.symbol) <> '' and s.kind not in ('fixed_income', 'derivative')
    order by s.user_id, s.id on conflict do nothing";
const INSTRUMENTS_OF_PAPER_POSITIONS: &str =
    "insert into instruments (user_id, symbol, currency, class, id)
    select p.user_id, p.symbol, 'USD', 'listed', p.security_id from paper_positions p
    where p.symbol <> '' order by p.user_id, p.account_id on conflict do nothing";
const IDS_OF_PAPER_POSITIONS: &str =
    "update paper_positions set security_id = (select i.id from instruments i
    where i.user_id = paper_positions.user_id and i.symbol = paper_positions.symbol
    and i.currency = 'USD' and i.class = 'listed')
    where exists (select 1 from instruments i where i.user_id = paper_positions.user_id
    and i.symbol = paper_positions.symbol and i.currency = 'USD' and i.class = 'listed')";

pub(super) const STATEMENTS: &[&str] = &[
    KEEPER_TO_ADMIN,
    INSTRUMENTS_OF_SECURITIES,
    INSTRUMENTS_OF_PAPER_POSITIONS,
    IDS_OF_PAPER_POSITIONS,
];
