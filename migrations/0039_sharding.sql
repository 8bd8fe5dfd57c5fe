{works with 39}
-- What changes with a person's data, apart from the person: the newest stamp of their transactions and the epoch of
-- their change feed (0014), and when old rows were last deleted (0020). Whoever changes a person's data locks this row,
-- not the one of `users`: on a sharded database every node has a copy of `users`, so each change of it takes all nodes.
-- The columns of `users` are no longer read.
create table person_states (
    user_id {bytes} primary key references users (id) on delete cascade,
    transactions_stamp {int} not null,
    transactions_epoch {int} not null,
    swept_at {int} not null
) {table};

insert into person_states (user_id, transactions_stamp, transactions_epoch, swept_at)
    select id, transactions_stamp, transactions_epoch, swept_at from users;

{only postgres}
-- The same marks as before (0010), one by one: on a sharded database this runs on the shards, where Citus cannot insert
-- from the rows of a trigger.
create or replace function mark_inserted_transactions() returns trigger language plpgsql as $$
declare
    marked record;
begin
    for marked in select distinct user_id, posted_on >> 2 as bucket from inserted loop
        insert into transaction_search_dirty (user_id, bucket, mark)
            values (marked.user_id, marked.bucket, txid_current()) on conflict do nothing;
    end loop;
    return null;
end $$;
{end postgres}
