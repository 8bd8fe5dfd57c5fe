{works with 27}
-- Identities of people at providers of single sign-on. The provider's subject decides whose account it is; the email only
-- helps to tell identities apart.
create table identities (
    user_id {bytes} not null references users (id) on delete cascade,
    issuer text not null,
    subject text not null,
    email text,
    created_at {int} not null,
    last_used_at {int},
    primary key (user_id, issuer),
    unique (issuer, subject)
) {table};

-- Round trips through a provider, by the hash of their state. `purpose` is sign_in, link or prove; the last two are for
-- a signed-in person. `browser_hash` is the hash of a secret of the browser in which it began.
create table sign_on_flows (
    state_hash {bytes} primary key,
    provider text not null,
    browser_hash {bytes} not null,
    user_id {bytes} references users (id) on delete cascade,
    purpose text not null,
    next_path text not null,
    expires_at {int} not null
) {table};

create index sign_on_flows_by_age on sign_on_flows (expires_at);

-- What came before the second step, if it was not the password: single_sign_on.
alter table second_steps add column first_step text;
