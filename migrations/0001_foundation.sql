-- People, their credentials, and the household's data. Every key leads with the user, so that one person's rows lie
-- together and could live on a shard of their own. Days are days since 1970, moments are microseconds since 1970,
-- money is minor units of the row's currency; quantities, prices and rates are exact decimals in text.

create table installation (
    name text primary key,
    value text not null
) {table};

create table users (
    id {bytes} primary key,
    email text not null unique,
    preferred_name text,
    image text,
    base_currency text not null,
    password_hash text,
    connected_at {int},
    created_at {int} not null,
    updated_at {int} not null
) {table};

create table api_keys (
    user_id {bytes} not null references users (id) on delete cascade,
    id {bytes} not null,
    name text not null,
    key_hash {bytes} not null unique,
    hint text not null,
    scopes text not null,
    limited_at {int},
    expires_at {int},
    last_used_at {int},
    last_used_address text,
    revoked_at {int},
    created_at {int} not null,
    primary key (user_id, id)
) {table};

create table connections (
    user_id {bytes} not null references users (id) on delete cascade,
    id {bytes} not null,
    source text not null,
    external_id text not null,
    institution_name text,
    status text not null,
    synced_at {int},
    created_at {int} not null,
    primary key (user_id, id),
    unique (user_id, source, external_id)
) {table};

create table accounts (
    user_id {bytes} not null,
    id {bytes} not null,
    connection_id {bytes} not null,
    external_id text not null,
    name text not null,
    mask text,
    kind text not null,
    subtype text,
    currency text not null,
    institution_name text,
    institution_logo text,
    balance_current_minor {int},
    balance_available_minor {int},
    balance_limit_minor {int},
    balance_as_of {int},
    interest_rate text,
    apy_display text,
    next_payment_due_on {int},
    closed_on {int},
    hidden_at {int},
    transaction_count {int} not null,
    created_at {int} not null,
    updated_at {int} not null,
    primary key (user_id, id),
    unique (user_id, connection_id, external_id),
    foreign key (user_id, connection_id) references connections (user_id, id) on delete cascade
) {table};

-- The accounts a key may see; without any row and with `limited_at` empty it may see all.
create table api_key_accounts (
    user_id {bytes} not null,
    key_id {bytes} not null,
    account_id {bytes} not null,
    primary key (user_id, key_id, account_id),
    foreign key (user_id, key_id) references api_keys (user_id, id) on delete cascade,
    foreign key (user_id, account_id) references accounts (user_id, id) on delete cascade
) {clustered};

create table balances (
    user_id {bytes} not null,
    account_id {bytes} not null,
    reported_on {int} not null,
    current_minor {int} not null,
    available_minor {int},
    limit_minor {int},
    primary key (user_id, account_id, reported_on),
    foreign key (user_id, account_id) references accounts (user_id, id) on delete cascade
) {clustered};

-- The tables of lists are clustered by the order in which they are read. `state` is pending, posted or removed; a
-- removed row stays, so that a delta can tell of it and an import that is taken back can restore it.
create table transactions (
    user_id {bytes} not null,
    posted_on {int} not null,
    id {bytes} not null,
    account_id {bytes} not null,
    state text not null,
    amount_minor {int} not null,
    currency text not null,
    authorized_on {int},
    description text not null,
    counterparty text,
    counterparty_logo_url text,
    category text,
    transfer_id {bytes},
    updated_at {int} not null,
    external_id text,
    created_at {int} not null,
    import_id {bytes} not null,
    primary key (user_id, posted_on, id),
    foreign key (user_id, account_id) references accounts (user_id, id) on delete cascade
) {clustered};

create index transactions_by_account on transactions (user_id, account_id, posted_on, id);
create unique index transactions_by_id on transactions (user_id, id);
create index transactions_by_external_id on transactions (user_id, account_id, external_id);
create index transactions_by_update on transactions (user_id, updated_at);

create table securities (
    user_id {bytes} not null,
    id {bytes} not null,
    connection_id {bytes} not null,
    external_id text not null,
    symbol text,
    name text not null,
    kind text not null,
    asset_class text not null,
    currency text not null,
    price text,
    previous_close text,
    priced_at {int},
    updated_at {int} not null,
    primary key (user_id, id),
    unique (user_id, connection_id, external_id),
    foreign key (user_id, connection_id) references connections (user_id, id) on delete cascade
) {table};

create table holdings (
    user_id {bytes} not null,
    account_id {bytes} not null,
    security_id {bytes} not null,
    id {bytes} not null,
    quantity text not null,
    cost_basis_minor {int},
    institution_value_minor {int},
    updated_at {int} not null,
    primary key (user_id, account_id, security_id),
    foreign key (user_id, account_id) references accounts (user_id, id) on delete cascade,
    foreign key (user_id, security_id) references securities (user_id, id) on delete cascade
) {table};

create table exchange_rates (
    user_id {bytes} not null references users (id) on delete cascade,
    from_currency text not null,
    to_currency text not null,
    rated_on {int} not null,
    rate text not null,
    primary key (user_id, from_currency, to_currency, rated_on)
) {clustered};

create table goals (
    user_id {bytes} not null references users (id) on delete cascade,
    id {bytes} not null,
    name text not null,
    goal_type text not null,
    status text not null,
    currency text not null,
    target_minor {int} not null,
    saved_minor {int} not null,
    target_on {int},
    created_at {int} not null,
    updated_at {int} not null,
    primary key (user_id, id)
) {table};

-- `start_minor` is what was owed when a debt goal began; its progress is what has been paid off since.
create table goal_accounts (
    user_id {bytes} not null,
    goal_id {bytes} not null,
    account_id {bytes} not null,
    start_minor {int},
    primary key (user_id, goal_id, account_id),
    foreign key (user_id, goal_id) references goals (user_id, id) on delete cascade,
    foreign key (user_id, account_id) references accounts (user_id, id) on delete cascade
) {clustered};

create table imports (
    user_id {bytes} not null,
    id {bytes} not null,
    connection_id {bytes} not null,
    as_of {int} not null,
    imported_at {int} not null,
    new_count {int} not null,
    changed_count {int} not null,
    seen_count {int} not null,
    removed_count {int} not null,
    primary key (user_id, id),
    foreign key (user_id, connection_id) references connections (user_id, id) on delete cascade
) {table};

-- The outbox: an event is written in the transaction of the change it tells of, and delivered from here.
create table events (
    user_id {bytes} not null references users (id) on delete cascade,
    id {bytes} not null,
    type text not null,
    data text not null,
    created_at {int} not null,
    primary key (user_id, id)
) {clustered};

create table idempotency_keys (
    user_id {bytes} not null references users (id) on delete cascade,
    credential_id {bytes} not null,
    scope text not null,
    idempotency_key text not null,
    fingerprint {bytes} not null,
    status {int},
    body text,
    leased_until {int} not null,
    created_at {int} not null,
    primary key (user_id, credential_id, scope, idempotency_key)
) {clustered};

create index idempotency_keys_by_age on idempotency_keys (created_at);

-- Accepted requests, numbered per credential, for the limit that several processes share.
create {unlogged} table request_marks (
    credential_id {bytes} not null,
    number {int} not null,
    accepted_at {int} not null,
    primary key (credential_id, number)
) {clustered};

create index request_marks_by_time on request_marks (credential_id, accepted_at, number);
