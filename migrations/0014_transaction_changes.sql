-- The change feed of transactions. `transactions_stamp` is the newest stamp of a person's transactions: each database
-- transaction that changes some takes the next one, so that stamps rise in the order of the commits.
-- `transactions_epoch` changes when the stamps begin anew, after a restore: cursors from before are refused then.
alter table users add column transactions_stamp {int} not null default 0;
alter table users add column transactions_epoch {int} not null default 0;
update users set transactions_stamp = coalesce((select max(t.updated_at) from transactions t
    where t.user_id = users.id), 0);

drop index transactions_by_update;
create index transactions_by_update on transactions (user_id, updated_at, id);

-- Transactions that were deleted for good, so that the feed can name them.
create table transaction_removals (
    user_id {bytes} not null references users (id) on delete cascade,
    removed_at {int} not null,
    id {bytes} not null,
    account_id {bytes} not null,
    primary key (user_id, removed_at, id)
) {clustered};
