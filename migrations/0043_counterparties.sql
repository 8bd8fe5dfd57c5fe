{works with 39}
-- The list of one merchant's transactions, which the spending page opens, walked all transactions of the person.
{concurrently}
create index transactions_by_counterparty on transactions (user_id, counterparty, posted_on, id)
    where counterparty is not null;
{end concurrently}
