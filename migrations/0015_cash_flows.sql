-- Cash flows: income, spending and unclassified inflows of a month, packed, so that sums over years read little.
-- `digest` is a hash of `flows`, by which a recompute sees whether a month changed.
create table cash_flow_months (
    user_id {bytes} not null references users (id) on delete cascade,
    month {int} not null,
    digest {int} not null,
    flows {bytes} not null,
    primary key (user_id, month)
) {table};

{only postgres}
-- Read whole and often: compressing it would cost more than it saves.
alter table cash_flow_months alter column flows set storage external;
{end postgres}
