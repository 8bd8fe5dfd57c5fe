{works with 39}
-- The list of transactions finds what counts as spending by the sign of the amount, and by this table where the sign is not
-- enough: refunds, and outflows that are no spending, such as savings. The recompute keeps it together with `cash_flow_months`.
create table spending_exceptions (
    user_id {bytes} not null references users (id) on delete cascade,
    posted_on {int} not null,
    id {bytes} not null,
    primary key (user_id, posted_on, id)
) {table};
