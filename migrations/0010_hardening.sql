-- Hardening: what attacks and faults on the release binary showed to be missing.

-- Readiness: one row, written to find out whether the database takes writes.
create table write_probes (
    id {int} primary key,
    written_at {int} not null,
    filler {bytes}
) {table};

-- Anchors: how far a chain of a person goes and how it ends, apart from the chain itself. The chain `audit` is the audit
-- trail; each paper account's ledger is one, named by the account's id. `seal` is keyed by the installation key, so that
-- whoever cuts a chain in the database cannot make the anchor that fits. `since_number` is how far the chain went when
-- it was first anchored, and `since_seal` seals that.
create table anchors (
    user_id {bytes} not null references users (id) on delete cascade,
    chain text not null,
    number {int} not null,
    hash {bytes} not null,
    seal {bytes} not null,
    since_number {int} not null,
    since_at {int} not null,
    since_seal {bytes} not null,
    primary key (user_id, chain)
) {clustered};

-- Keys that were revoked. They outlive the key and its person, so that a restore into the same database does not bring
-- them back.
create table ended_keys (
    key_id {bytes} primary key,
    ended_at {int} not null
) {table};

insert into ended_keys (key_id, ended_at)
    select id, revoked_at from api_keys where revoked_at is not null;

-- Registered apps: an app that no person ever authorized is kept for a day, and only so many are kept for one address
-- group and in all. `registered_from` is the address group, `authorized_at` when a person first allowed the app.
alter table oauth_clients add column registered_from text not null default 'unknown';
alter table oauth_clients add column authorized_at {int};
update oauth_clients set authorized_at = seen_at
    where exists (select 1 from oauth_grants g where g.client_id = oauth_clients.id)
    or exists (select 1 from oauth_codes c where c.client_id = oauth_clients.id);
create index oauth_clients_unauthorized on oauth_clients (registered_from, seen_at)
    where authorized_at is null;

-- Known devices: browsers in which a person signed in before, each with an allowance of wrong passwords of its own.
-- Several people may share a browser, and so a token. `session_id` is the session that was opened last.
create table known_devices (
    user_id {bytes} not null references users (id) on delete cascade,
    token_hash {bytes} not null,
    session_id {bytes} not null,
    seen_at {int} not null,
    primary key (user_id, token_hash)
) {clustered};
create index known_devices_by_token on known_devices (token_hash);

-- Failed sign-ins count for different times, depending on what they are counted by.
alter table sign_in_failures add column expires_at {int} not null default 0;
update sign_in_failures set expires_at = failed_at + 900000000;
drop index sign_in_failures_by_age;
create index sign_in_failures_by_age on sign_in_failures (expires_at);

-- Staged files. Their bytes lie apart from what a list shows, in parts that are small enough for a line of a backup;
-- `import_files.content` is only filled in rows of a backup that was made before this step. `preview` is what the last
-- preview found, as JSON, so that a list reads no file.
create table import_file_parts (
    user_id {bytes} not null,
    file_id {bytes} not null,
    part {int} not null,
    content {bytes} not null,
    primary key (user_id, file_id, part),
    foreign key (user_id, file_id) references import_files (user_id, id) on delete cascade
) {table};

insert into import_file_parts (user_id, file_id, part, content)
    select user_id, id, 0, content from import_files where content is not null;
update import_files set content = null where content is not null;
alter table import_files add column preview text;

-- Search: the texts of transactions once more, packed by days, so that looking for a text reads little.

-- `words` holds the description and the counterparty of every transaction posted on the four days of the bucket
-- (`posted_on >> 2`), with case folded, each text once and on a line of its own. It may also hold texts that are no
-- longer there. It is null where there is too much text to pack.
create table transaction_search (
    user_id {bytes} not null references users (id) on delete cascade,
    bucket {int} not null,
    words text,
    primary key (user_id, bucket)
) {table};

-- A bucket is dirty while its `words` may lack a text. On PostgreSQL, `mark` tells apart the transactions that marked
-- it, so that none waits for another one, and packing for one does not count as packing for the next.
create table transaction_search_dirty (
    user_id {bytes} not null references users (id) on delete cascade,
    bucket {int} not null,
    mark {int} not null,
    primary key (user_id, bucket, mark)
) {clustered};

insert into transaction_search_dirty (user_id, bucket, mark)
    select distinct user_id, posted_on >> 2, 0 from transactions;

{only sqlite}
create trigger transactions_search_insert after insert on transactions begin
    insert into transaction_search_dirty (user_id, bucket, mark)
        values (new.user_id, new.posted_on >> 2, 0) on conflict do nothing;
end;

create trigger transactions_search_update after update of posted_on, description, counterparty on transactions
when new.posted_on <> old.posted_on or new.description <> old.description
    or new.counterparty is not old.counterparty begin
    insert into transaction_search_dirty (user_id, bucket, mark)
        values (new.user_id, new.posted_on >> 2, 0) on conflict do nothing;
end;
{end sqlite}

{only postgres}
-- Text that is searched and never shown need not be compressed.
alter table transaction_search alter column words set storage external;

create function mark_inserted_transactions() returns trigger language plpgsql as $$
begin
    insert into transaction_search_dirty (user_id, bucket, mark)
        select distinct user_id, posted_on >> 2, txid_current() from inserted on conflict do nothing;
    return null;
end $$;

create function mark_updated_transaction() returns trigger language plpgsql as $$
begin
    insert into transaction_search_dirty (user_id, bucket, mark)
        values (new.user_id, new.posted_on >> 2, txid_current()) on conflict do nothing;
    return null;
end $$;

create trigger transactions_search_insert after insert on transactions
    referencing new table as inserted for each statement execute function mark_inserted_transactions();

create trigger transactions_search_update after update of posted_on, description, counterparty on transactions
    for each row when (new.posted_on <> old.posted_on or new.description <> old.description
        or new.counterparty is distinct from old.counterparty)
    execute function mark_updated_transaction();
{end postgres}
