{works with 33}
-- What the person says about an account and its source does not: its type (`own_type_at` is when; from then on the
-- source's subtype no longer changes it), and the terms of a card or loan.
alter table accounts add column own_type_at {int};
alter table accounts add column own_interest_rate text;
alter table accounts add column own_payment_minor {int};
alter table accounts add column statement_day {int};
alter table accounts add column due_day {int};
