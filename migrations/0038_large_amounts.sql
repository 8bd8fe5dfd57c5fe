{works with 37}
-- The large amounts of a person, so that a list by size begins without reading all others. The bound is written in the
-- statement that uses the index, too (`LARGE_MINOR`).
{concurrently}
create index transactions_by_size on transactions (user_id, abs(amount_minor), posted_on, id)
    where abs(amount_minor) >= 100000;
{end concurrently}
