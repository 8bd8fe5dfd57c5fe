{works with 39}
-- The list of transactions finds what counts as spending by the sign of the amount, and by this table where the sign is not
-- enough: refunds, outflows that are no spending, such as savings, and split transactions of which only some parts are. The
-- recompute keeps it together with `cash_flow_months`. `counted_parts` has a bit for each part that counts, the first part
-- the lowest; a transaction without parts is one part.
create table spending_exceptions (
    user_id {bytes} not null references users (id) on delete cascade,
    posted_on {int} not null,
    id {bytes} not null,
    counted_parts {int} not null,
    primary key (user_id, posted_on, id)
) {table};
