{works with 39}
-- Only the ids of banks and of entries by hand are looked up. Files may reuse an id after a while, so their rows are matched by
-- day, and need no entry here. The condition is written in the statements that use the index, too. Older programs find their
-- rows by the index of the account meanwhile.
{concurrently}
create index transactions_by_bank_id on transactions (user_id, account_id, external_id)
    where substr(external_id, 1, 5) <> 'file:';
{end concurrently}
drop index transactions_by_external_id;
