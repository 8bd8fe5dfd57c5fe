-- Trades of securities, from which the cost of a position follows if its source does not say it. Every import keeps its
-- own trades, so that undoing one takes away no trade that another reported too. `security` is the source's id.
create table trades (
    user_id {bytes} not null,
    account_id {bytes} not null,
    import_id {bytes} not null,
    number {int} not null,
    external_id text,
    security text not null,
    traded_on {int} not null,
    kind text not null,
    quantity text not null,
    per_quantity text,
    amount_minor {int},
    primary key (user_id, account_id, import_id, number),
    foreign key (user_id, account_id) references accounts (user_id, id) on delete cascade
) {table};
