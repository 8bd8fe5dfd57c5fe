-- People at the door: how they sign in, whom they let in, and what was done. Of every secret only a hash is kept.

-- `role` is keeper (may invite others) or member. `second_step` is passkey where the password alone is not enough.
alter table users add column role text not null default 'member';
alter table users add column second_step text;
update users set role = 'keeper' where id in (select id from users order by created_at, id limit 1);

-- Requests of the day that last saw one.
alter table api_keys add column used_on {int};
alter table api_keys add column used_on_count {int};

-- What the person says of an account: its name to them, and since when they have it no more. A bank never speaks over it.
alter table accounts add column own_name text;
alter table accounts add column own_closed_on {int};

-- Holds what balances are worked back with, so that years of an account cost one walk over it.
drop index transactions_by_account;
create index transactions_by_account on transactions
    (user_id, account_id, posted_on, id, amount_minor, state);

create table user_images (
    user_id {bytes} primary key references users (id) on delete cascade,
    address text not null unique,
    media_type text not null,
    content {bytes} not null
) {table};

-- `proved_at` is when the person last showed who they are, which some changes ask for anew.
create table sessions (
    user_id {bytes} not null references users (id) on delete cascade,
    id {bytes} not null,
    token_hash {bytes} not null unique,
    method text not null,
    agent text,
    address text,
    created_at {int} not null,
    seen_at {int} not null,
    proved_at {int} not null,
    expires_at {int} not null,
    primary key (user_id, id)
) {table};

-- The password was right and the passkey is awaited. No session, so that nothing can take it for one.
create table second_steps (
    token_hash {bytes} primary key,
    user_id {bytes} not null references users (id) on delete cascade,
    expires_at {int} not null
) {table};

create table passkeys (
    user_id {bytes} not null references users (id) on delete cascade,
    id {bytes} not null,
    credential_id {bytes} not null unique,
    public_key {bytes} not null,
    sign_count {int} not null,
    name text not null,
    created_at {int} not null,
    last_used_at {int},
    primary key (user_id, id)
) {table};

-- A challenge is taken away by the answer to it. `user_id` is empty where the answer says who it is.
create table passkey_challenges (
    challenge {bytes} primary key,
    user_id {bytes} references users (id) on delete cascade,
    purpose text not null,
    expires_at {int} not null
) {table};

create table recovery_codes (
    user_id {bytes} not null references users (id) on delete cascade,
    code_hash {bytes} not null,
    created_at {int} not null,
    used_at {int},
    primary key (user_id, code_hash)
) {clustered};

-- `subject` is a hash of the address of the person or of the machine.
create table sign_in_failures (
    subject {bytes} not null,
    id {bytes} not null,
    failed_at {int} not null,
    primary key (subject, id)
) {clustered};

create index sign_in_failures_by_age on sign_in_failures (failed_at);

create table invitations (
    user_id {bytes} not null references users (id) on delete cascade,
    id {bytes} not null,
    token_hash {bytes} not null unique,
    email text,
    created_at {int} not null,
    expires_at {int} not null,
    used_at {int},
    primary key (user_id, id)
) {table};

-- Append-only: each entry hashes the one before, so that none can be changed or taken out unnoticed.
create table audit (
    user_id {bytes} not null references users (id) on delete cascade,
    number {int} not null,
    at {int} not null,
    actor text not null,
    actor_id text,
    actor_label text,
    action text not null,
    subject text,
    details text not null,
    method text,
    address text,
    digest {bytes},
    hash {bytes} not null,
    primary key (user_id, number)
) {clustered};

-- A client belongs to nobody: anyone may register one, and it can do nothing until a person allows it. `seen_at` is
-- when it was last registered or allowed.
create table oauth_clients (
    id {bytes} primary key,
    secret_hash {bytes},
    name text not null,
    redirect_uris text not null,
    auth_method text not null,
    fingerprint {bytes} not null unique,
    registered_at {int} not null,
    seen_at {int} not null
) {table};

-- `host` is where the person sent the first code to, in words for them.
create table oauth_grants (
    user_id {bytes} not null references users (id) on delete cascade,
    id {bytes} not null,
    client_id {bytes} not null references oauth_clients (id) on delete cascade,
    host text not null,
    scopes text not null,
    resource text,
    created_at {int} not null,
    last_used_at {int},
    last_used_address text,
    revoked_at {int},
    primary key (user_id, id)
) {table};

create index oauth_grants_by_client on oauth_grants (client_id);

-- `grant_id` is what the code was turned into; a second use ends that.
create table oauth_codes (
    code_hash {bytes} primary key,
    user_id {bytes} not null references users (id) on delete cascade,
    client_id {bytes} not null references oauth_clients (id) on delete cascade,
    redirect_uri text not null,
    challenge text not null,
    scopes text not null,
    resource text,
    expires_at {int} not null,
    grant_id {bytes}
) {table};

create index oauth_codes_by_age on oauth_codes (expires_at);

-- A pair of tokens. `scopes` are the access token's, which may be fewer than the grant's. `refreshed_at` is when the
-- refresh token was turned in for the pair that `follows` it; a second time ends the grant. `used_at` is when the access
-- token was first used; `replaced_at` is set where the pair was lost on its way and another was made in its place.
create table oauth_tokens (
    user_id {bytes} not null,
    grant_id {bytes} not null,
    id {bytes} not null,
    follows {bytes},
    scopes text not null,
    access_hash {bytes} not null unique,
    access_expires_at {int} not null,
    refresh_hash {bytes} not null unique,
    refresh_expires_at {int} not null,
    used_at {int},
    refreshed_at {int},
    replaced_at {int},
    primary key (user_id, grant_id, id),
    foreign key (user_id, grant_id) references oauth_grants (user_id, id) on delete cascade
) {table};

create index oauth_tokens_by_age on oauth_tokens (refresh_expires_at);
