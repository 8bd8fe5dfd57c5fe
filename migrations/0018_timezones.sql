-- The time zone of each person, by its IANA name. Before this migration all dates were in UTC, which stays the time zone of
-- everybody until they choose another.
alter table users add column timezone text not null default 'UTC';

-- When the day of `computed_on` ends in the person's time zone. Without it, the next step recomputes the person.
alter table insights add column day_ends_at {int};
