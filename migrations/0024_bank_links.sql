{works with 23}
-- The login at the provider that a connection is for, by which webhooks name it, and the bank, to recognize a second
-- connection to the same one.
alter table connections add column login_id text;
alter table connections add column institution_id text;

create index connections_by_login on connections (login_id) where login_id is not null;

-- A person's own keys of a provider, encrypted and bound to both. `logins` counts the bank logins that were connected
-- with them, also those that have ended: a free plan may have room for a few only.
create table provider_keys (
    user_id {bytes} not null references users (id) on delete cascade,
    source text not null,
    sealed {bytes} not null,
    logins {int} not null default 0,
    updated_at {int} not null,
    primary key (user_id, source)
) {clustered};

-- Round trips through the person's browser, to connect or to repair. `sealed` has the page's address and what the
-- provider needs to say what came of it, encrypted and bound to the id. `purpose` is connect, repair or add_accounts;
-- `state` is waiting, duplicate, done or ended, with a message for the person.
create table connection_links (
    user_id {bytes} not null references users (id) on delete cascade,
    id text not null,
    source text not null,
    purpose text not null,
    connection_id {bytes},
    sealed {bytes} not null,
    state text not null,
    message text,
    created_at {int} not null,
    expires_at {int} not null,
    leased_until {int},
    primary key (user_id, id)
) {clustered};

create index connection_links_waiting on connection_links (created_at) where state = 'waiting';
