{works with 18}
-- Server processes that are alive. Each renews its row by the database's time. A claim that names a process ends when that
-- process is no longer alive, so that a crash blocks nobody until the end of a lease. Unlogged: a process that does not find
-- its row writes it again.
create {unlogged} table processes (
    id {bytes} primary key,
    started_at {int} not null,
    alive_until {int} not null
) {table};

alter table idempotency_keys add column process_id {bytes};
alter table import_files add column process_id {bytes};
alter table connections add column process_id {bytes};

-- Rises with every change of the address, the secret or the status. A delivery is sent only to the version it was read with.
alter table webhook_endpoints add column version {int} not null default 1;
