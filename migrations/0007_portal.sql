-- What came of webhooks, for those who look after them.

-- Dead letters are few among many deliveries, and are asked for newest first.
create index deliveries_failed on deliveries (user_id, event_id, endpoint_id) where status = 'failed';

-- Sending again what failed at an endpoint, with how far it is. Whoever works on it moves `due_at` behind the time that a
-- batch can take; null when it is over.
create table replays (
    user_id {bytes} not null,
    endpoint_id {bytes} not null,
    since {int} not null,
    total {int} not null,
    done {int} not null,
    delivered {int} not null,
    progress text not null,
    after_event {bytes} not null,
    due_at {int},
    created_at {int} not null,
    updated_at {int} not null,
    primary key (user_id, endpoint_id),
    foreign key (user_id, endpoint_id) references webhook_endpoints (user_id, id) on delete cascade
) {table};

create index replays_due on replays (due_at) where due_at is not null;

-- A link into the portal, or the pass that it was exchanged for: hashes only, gone with the key.
create table portal_tokens (
    token_hash {bytes} not null primary key,
    user_id {bytes} not null,
    key_id {bytes} not null,
    kind text not null,
    ends_at {int} not null,
    foreign key (user_id, key_id) references api_keys (user_id, id) on delete cascade
) {table};

create index portal_tokens_by_age on portal_tokens (ends_at);
