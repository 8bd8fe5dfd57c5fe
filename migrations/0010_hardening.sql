-- Hardening: what attacks and faults on the release binary showed to be missing.

-- Readiness: one row, written to find out whether the database takes writes.
create table write_probes (
    id {int} primary key,
    written_at {int} not null,
    filler {bytes}
) {table};
