-- Attempts by what they are looked for: one event, one endpoint, or what failed. Ids are nobody else's, so that they lead
-- alone. Most attempts succeed, so that the lists of failures cost those nothing.
create index attempts_by_event on attempts (event_id, id);
create index attempts_by_endpoint on attempts (endpoint_id, id);
create index attempts_failed on attempts (user_id, status, id) where status = 'failed';
create index attempts_failed_by_endpoint on attempts (endpoint_id, status, id)
    where status = 'failed';
