{works with 24}
-- The parts of a transaction that the person split over categories, one a line (crates/base/src/split.rs), and the
-- amount that they were made for. A split counts while that is still the amount of the transaction.
alter table transactions add column splits text;
alter table transactions add column split_minor {int};
{concurrently}
create index transactions_by_split on transactions (user_id, split_minor) where split_minor is not null;
{end concurrently}
