//! Changes that migrations made to rows. A restore writes rows into a database whose migrations have already run, so rows
//! from an older backup must be changed in the same way afterwards.

use crate::{Result, Tx};

/// A statement that a migration ran, and the schema version that came out of it.
struct RowChange {
    schema: i64,
    sql: &'static str,
}

const ROW_CHANGES: [RowChange; 10] = [
    RowChange { schema: 11, sql: KEEPER_TO_ADMIN },
    RowChange { schema: 12, sql: INSTRUMENTS_OF_SECURITIES },
    RowChange { schema: 12, sql: INSTRUMENTS_OF_PAPER_POSITIONS },
    RowChange { schema: 12, sql: IDS_OF_PAPER_POSITIONS },
    RowChange { schema: 13, sql: KEYS_OF_TESTS },
    RowChange { schema: 13, sql: EVENTS_OF_DELIVERIES },
    RowChange { schema: 13, sql: EVENTS_OF_TESTS },
    RowChange { schema: 13, sql: EXHAUSTED_ENDPOINTS },
    RowChange { schema: 14, sql: NEWEST_STAMPS },
    RowChange { schema: 39, sql: PERSON_STATES },
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
const KEYS_OF_TESTS: &str = "update events set key_id = (select a.key_id from attempts a
        where a.event_id = events.id and a.trigger_kind = 'test' limit 1)
    where exists (select 1 from attempts a
        where a.event_id = events.id and a.trigger_kind = 'test')";
const EVENTS_OF_DELIVERIES: &str = "insert into events (user_id, id, type, data, created_at)
    select d.user_id, d.event_id, min(d.event_type), '', min(d.created_at) from deliveries d
    where not exists (select 1 from events e where e.user_id = d.user_id and e.id = d.event_id)
    group by d.user_id, d.event_id";
const EVENTS_OF_TESTS: &str = "insert into events (user_id, id, type, data, created_at, key_id)
    select a.user_id, a.event_id, min(a.event_type), '', min(a.attempted_at), a.key_id
    from attempts a where a.trigger_kind = 'test'
    and not exists (select 1 from events e where e.user_id = a.user_id and e.id = a.event_id)
    group by a.user_id, a.event_id, a.key_id";
const EXHAUSTED_ENDPOINTS: &str = "update webhook_endpoints set exhausted_at =
    (select max(d.updated_at) from deliveries d where d.user_id = webhook_endpoints.user_id
        and d.endpoint_id = webhook_endpoints.id and d.status = 'failed' and d.attempts >= 8)
    where failing_since is not null";

const NEWEST_STAMPS: &str =
    "update users set transactions_stamp = coalesce((select max(t.updated_at) from transactions t
    where t.user_id = users.id), 0)";
const PERSON_STATES: &str =
    "insert into person_states (user_id, transactions_stamp, transactions_epoch, swept_at)
    select id, transactions_stamp, transactions_epoch, swept_at from users";

pub(super) const STATEMENTS: &[&str] = &[
    KEEPER_TO_ADMIN,
    INSTRUMENTS_OF_SECURITIES,
    INSTRUMENTS_OF_PAPER_POSITIONS,
    IDS_OF_PAPER_POSITIONS,
    KEYS_OF_TESTS,
    EVENTS_OF_DELIVERIES,
    EVENTS_OF_TESTS,
    EXHAUSTED_ENDPOINTS,
    NEWEST_STAMPS,
    PERSON_STATES,
];
