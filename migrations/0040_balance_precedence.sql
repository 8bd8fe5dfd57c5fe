{works with 39}
-- Which of several balances of one day is kept, so that it does not depend on the order of the imports: the greater
-- precedence (`crates/service/src/ingest/imports/balances.rs`). Null in rows that an older program has written.
alter table balances add column precedence {int};
