{works with 26}
-- A rule can ask for an amount in a currency, whichever way the money goes, and has a place that the person gave it.
alter table rules add column amount_currency text;
alter table rules add column amount_least {int};
alter table rules add column amount_most {int};
alter table rules add column position {int};
