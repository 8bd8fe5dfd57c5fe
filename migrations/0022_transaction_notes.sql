{works with 21}
-- The person's note and tags. Tags are written with a space before and after each one, so that one is found by its
-- whole text.
alter table transactions add column note text;
alter table transactions add column tags text;
{concurrently}
create index transactions_by_tags on transactions (user_id, tags) where tags is not null;
{end concurrently}

-- A search finds notes too.
{only sqlite}
drop trigger transactions_search_update;
create trigger transactions_search_update
after update of posted_on, description, counterparty, note on transactions
when new.posted_on <> old.posted_on or new.description <> old.description
    or new.counterparty is not old.counterparty or new.note is not old.note begin
    insert into transaction_search_dirty (user_id, bucket, mark)
        values (new.user_id, new.posted_on >> 2, 0) on conflict do nothing;
end;
{end sqlite}

{only postgres}
drop trigger transactions_search_update on transactions;
create trigger transactions_search_update after update of posted_on, description, counterparty, note on transactions
    for each row when (new.posted_on <> old.posted_on or new.description <> old.description
        or new.counterparty is distinct from old.counterparty or new.note is distinct from old.note)
    execute function mark_updated_transaction();
{end postgres}
