{works with 34}
-- The person can set the amount of a recurring payment, and merge a stream into another. Streams have both, too, so
-- that lists need not read the decisions.
alter table stream_choices add column amount_minor {int};
alter table stream_choices add column merged_into {bytes};
alter table streams add column own_amount_minor {int};
alter table streams add column merged_into {bytes};

-- The secret address of a person's calendar of recurring payments. `detail` says whether it shows amounts.
create table calendar_feeds (
    user_id {bytes} primary key references users (id) on delete cascade,
    token_hash {bytes} not null unique,
    detail text not null,
    created_at {int} not null
) {table};
