{works with 22}
-- Several bank providers. `sync_state` is what the provider needs to continue where the last sync ended, such as a
-- cursor; `remedy` is what the person can do about a problem: repair, add_accounts, reconnect or change_keys.
alter table connections add column sync_state text;
alter table connections add column remedy text;

-- Access that has ended here, and that the provider has yet to be told of, with the person's own keys if it was obtained
-- with them. It outlives the connection and the person, because a provider may charge until it is told.
create table connection_removals (
    user_id {bytes} not null,
    connection_id {bytes} not null,
    created_at {int} not null,
    source text not null,
    access {bytes} not null,
    keys {bytes},
    tries {int} not null,
    next_try_at {int} not null,
    primary key (user_id, connection_id, created_at)
) {clustered};

create index connection_removals_due on connection_removals (next_try_at);
