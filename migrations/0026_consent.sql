{works with 25}
-- When the access to a bank ends, so that the person has to consent again; none if it has no end.
alter table connections add column access_ends_at {int};
