-- Webhooks: where events are sent, what is still to be sent, and every attempt.

-- An endpoint belongs to the key that made it. `filter_types` has a space around each type; empty means all of them.
-- Secrets are sealed with the installation's key. `failing_since` is the first failure after the last success.
create table webhook_endpoints (
    user_id {bytes} not null references users (id) on delete cascade,
    id {bytes} not null,
    key_id {bytes} not null,
    url text not null,
    description text,
    filter_types text not null,
    status text not null,
    disabled_reason text,
    secret {bytes} not null,
    previous_secret {bytes},
    previous_until {int},
    failing_since {int},
    last_delivery_at {int},
    created_at {int} not null,
    updated_at {int} not null,
    primary key (user_id, id)
) {table};

create index webhook_endpoints_by_id on webhook_endpoints (id);

-- One event for one endpoint. `due_at` is when the next attempt may be made; whoever claims it moves it behind the time
-- that an attempt can take, so that one who dies with it gives it back. Null when nothing more is to be done.
create table deliveries (
    user_id {bytes} not null,
    endpoint_id {bytes} not null,
    event_id {bytes} not null,
    event_type text not null,
    status text not null,
    attempts {int} not null,
    due_at {int},
    created_at {int} not null,
    updated_at {int} not null,
    primary key (user_id, endpoint_id, event_id),
    foreign key (user_id, endpoint_id) references webhook_endpoints (user_id, id) on delete cascade
) {clustered};

create index deliveries_due on deliveries (endpoint_id, due_at) where due_at is not null;

create table attempts (
    user_id {bytes} not null,
    id {bytes} not null,
    endpoint_id {bytes} not null,
    key_id {bytes} not null,
    event_id {bytes} not null,
    event_type text not null,
    url text not null,
    attempt {int} not null,
    trigger_kind text not null,
    status text not null,
    response_code {int},
    response_body text,
    error text,
    duration_ms {int} not null,
    attempted_at {int} not null,
    next_attempt_at {int},
    primary key (user_id, id),
    foreign key (user_id, endpoint_id) references webhook_endpoints (user_id, id) on delete cascade
) {clustered};

create index attempts_by_age on attempts (attempted_at);
create index events_by_age on events (created_at);
