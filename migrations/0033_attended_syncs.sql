{works with 32}
-- Syncs of the day `asked_on` that the person asked for in a browser. European banks limit only the others, which
-- `asked_count` counts.
alter table connections add column attended_count {int} not null default 0;
