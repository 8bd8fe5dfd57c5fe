-- What income and scores read of a month's posted transactions, packed; made again when one of them changes. `month` is
-- the day on which it begins.
create table ledger_months (
    user_id {bytes} not null references users (id) on delete cascade,
    month {int} not null,
    lines {bytes} not null,
    primary key (user_id, month)
) {clustered};
