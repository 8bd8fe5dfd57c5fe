{works with 20}
-- What the person decided about a recurring stream: another name, another type, or that it is none. Streams are
-- recomputed and may get a new id; the merchant, direction and frequency tell which new stream a decision is about.
create table stream_choices (
    user_id {bytes} not null,
    stream_id {bytes} not null,
    account_id {bytes} not null,
    merchant_key text not null,
    direction text not null,
    frequency text not null,
    name text,
    stream_type text,
    dismissed_at {int},
    primary key (user_id, stream_id),
    foreign key (user_id, account_id) references accounts (user_id, id) on delete cascade
) {clustered};

alter table streams add column dismissed_at {int};
