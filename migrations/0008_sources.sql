-- Where data comes from: files, banks that are asked, and the person's own hand.

-- `giver` is whose words the rows of a batch are, for rows without an id; `name` is the file's.
alter table imports add column giver text not null default '';
alter table imports add column name text;
alter table imports add column format text;
alter table imports add column account_count {int} not null default 0;
alter table imports add column rejected_count {int} not null default 0;
alter table imports add column undone_at {int};

-- The accounts in which a batch changed something.
create table import_accounts (
    user_id {bytes} not null,
    import_id {bytes} not null,
    account_id {bytes} not null,
    primary key (user_id, import_id, account_id),
    foreign key (user_id, import_id) references imports (user_id, id) on delete cascade
) {clustered};

-- Rows as they were before a batch changed them. `before` is a JSON list of the row's columns, or empty for a row that
-- was not there; transactions that a batch brought are found by their own column instead.
create table import_journal (
    user_id {bytes} not null,
    import_id {bytes} not null,
    what text not null,
    row_key text not null,
    before text,
    primary key (user_id, import_id, what, row_key),
    foreign key (user_id, import_id) references imports (user_id, id) on delete cascade
) {clustered};

create index import_journal_by_row on import_journal (user_id, what, row_key, import_id);
create index transactions_by_import on transactions (user_id, import_id);

-- What a source calls one of the person's accounts.
create table account_links (
    user_id {bytes} not null,
    giver text not null,
    external_id text not null,
    account_id {bytes} not null,
    primary key (user_id, giver, external_id),
    foreign key (user_id, account_id) references accounts (user_id, id) on delete cascade
) {clustered};

-- A file between being dropped and being imported. `choices` is what the person said of it, as JSON; `state` is open,
-- committing, done or failed; a commit holds it until `leased_until`.
create table import_files (
    user_id {bytes} not null references users (id) on delete cascade,
    id {bytes} not null,
    name text not null,
    content {bytes},
    size {int} not null,
    choices text not null,
    state text not null,
    outcome text,
    import_id {bytes},
    leased_until {int},
    created_at {int} not null,
    primary key (user_id, id)
) {table};

create index import_files_by_age on import_files (created_at);

-- How the person said that files with such columns are to be read.
create table file_mappings (
    user_id {bytes} not null references users (id) on delete cascade,
    columns text not null,
    mapping text not null,
    used_at {int} not null,
    primary key (user_id, columns)
) {clustered};

-- A connection that is asked: how to get in, sealed; what is wrong with it and what to do; when it is asked next, how
-- often it was on that day, and back to which day its history was asked for, with when to go on, how many parts in a
-- row had nothing in them, and how many days it gives at once where that is fewer than usual.
alter table connections add column access {bytes};
alter table connections add column name text;
alter table connections add column attention text;
alter table connections add column next_sync_at {int};
alter table connections add column leased_until {int};
alter table connections add column failures {int} not null default 0;
alter table connections add column asked_on {int};
alter table connections add column asked_count {int} not null default 0;
alter table connections add column history_from {int};
alter table connections add column next_history_at {int};
alter table connections add column history_empty {int} not null default 0;
alter table connections add column window_days {int};
alter table connections add column disconnected_at {int};

create index connections_due on connections (next_sync_at) where next_sync_at is not null;
create index connections_history_due on connections (next_history_at) where next_history_at is not null;

-- What is wrong with one account alone.
alter table accounts add column attention text;
-- The day on which the person last said what is on it: what is written down by hand from then on moves the balance.
alter table accounts add column reconciled_on {int};

-- The accounts that a connection offers, and what the person wants of each: `choice` is open, taken, left, or refused
-- for those that cannot be taken, with the reason. `login` and `asked_as` are the server's names for the login it
-- belongs to and for itself; `good_at` is when all of it was last told.
create table offered_accounts (
    user_id {bytes} not null,
    connection_id {bytes} not null,
    external_id text not null,
    login text,
    asked_as text not null,
    name text not null,
    own_name text,
    institution_name text,
    currency text not null,
    balance_minor {int},
    kind text not null,
    subtype text,
    owed text not null,
    choice text not null,
    reason text,
    account_id {bytes},
    seen_at {int} not null,
    good_at {int},
    primary key (user_id, connection_id, external_id),
    foreign key (user_id, connection_id) references connections (user_id, id) on delete cascade
) {clustered};

-- A rule may ask for rows to be hidden (`hides` is yes or absent), and may hold only for what came in since a moment.
-- Of a transaction that was posted, `state` is hidden while a rule hides it.
alter table rules add column hides text;
alter table rules add column holds_from {int};
