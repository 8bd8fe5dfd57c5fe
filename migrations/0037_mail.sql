{works with 36}
-- E-mail that waits to be sent. A row says what a message is about, and not its text: links with secrets are made when it
-- is sent. `user_id` is the person on whose behalf it is sent, who is not always the recipient.
create table mail_queue (
    user_id {bytes} not null references users (id) on delete cascade,
    id {bytes} not null,
    kind text not null,
    recipient text not null,
    about {bytes},
    created_at {int} not null,
    due_at {int} not null,
    leased_until {int},
    attempts {int} not null,
    primary key (user_id, id)
) {table};

create index mail_queue_by_due on mail_queue (due_at);

-- What a person was already told, so that a state that lasts is told once.
create table mail_alerts (
    user_id {bytes} not null references users (id) on delete cascade,
    kind text not null,
    about {bytes} not null,
    told_at {int} not null,
    primary key (user_id, kind, about)
) {table};

-- The last link with which a person can choose a new password. The secret is derived from `id` and the installation key.
create table password_resets (
    user_id {bytes} primary key references users (id) on delete cascade,
    id {bytes} not null,
    token_hash {bytes} not null unique,
    created_at {int} not null,
    expires_at {int} not null
) {table};
