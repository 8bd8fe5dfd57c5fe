{works with 35}
-- The euro reference rates of the European Central Bank: a euro was worth `rate` units of the currency on that day.
-- All people share them.
create table reference_rates (
    rated_on {int} not null,
    currency text not null,
    rate text not null,
    primary key (rated_on, currency)
) {clustered};

create index reference_rates_by_currency on reference_rates (currency, rated_on, rate);
