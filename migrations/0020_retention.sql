{works with 19}
-- Data that grows without end. `swept_at` is when a person's old rows were last deleted.
alter table users add column swept_at {int} not null default 0;
create index users_by_sweep on users (swept_at);

-- Nothing asks the journal by row: an undo reads it by import.
drop index import_journal_by_row;
-- Only an undo asks for the transactions of an import, and it may read all of the person's.
drop index transactions_by_import;
