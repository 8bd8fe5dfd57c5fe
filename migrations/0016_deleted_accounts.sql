-- The keys that could see an account when it was deleted, so that the change feed tells them, and no other limited key,
-- which of its transactions are gone.
create table deleted_account_keys (
    user_id {bytes} not null,
    key_id {bytes} not null,
    account_id {bytes} not null,
    primary key (user_id, key_id, account_id),
    foreign key (user_id, key_id) references api_keys (user_id, id) on delete cascade
) {clustered};
