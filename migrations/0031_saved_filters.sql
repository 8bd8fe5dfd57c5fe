{works with 30}
-- Filters of the transaction list that the person saved, as the query string of the page.
create table saved_filters (
    user_id {bytes} not null references users (id) on delete cascade,
    id {bytes} not null,
    name text not null,
    query text not null,
    created_at {int} not null,
    primary key (user_id, id)
) {clustered};
