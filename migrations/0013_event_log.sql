-- The event log, replays of single events, and endpoints that keep failing. A restore of an older backup repeats the
-- changes to rows (crates/service/src/backup/upgrade.rs).

-- Events are kept for ninety days, like deliveries and attempts. `data` is emptied after thirty. `key_id` is set on an
-- event that is for one key only, such as a test.
alter table events add column key_id {bytes};
create index events_for_key on events (user_id, id, key_id) where key_id is not null;
drop index events_by_age;
create index events_with_payload on events (created_at) where data <> '';

-- When a replay of the delivery was queued last. A queued replay is one attempt by hand.
alter table deliveries add column replayed_at {int};

-- When a delivery to the endpoint last used up all its attempts; a success clears it. It counts if it is not before
-- `failing_since`.
alter table webhook_endpoints add column exhausted_at {int};

update events set key_id =
    (select a.key_id from attempts a where a.event_id = events.id and a.trigger_kind = 'test' limit 1)
    where exists (select 1 from attempts a where a.event_id = events.id and a.trigger_kind = 'test');
insert into events (user_id, id, type, data, created_at)
    select d.user_id, d.event_id, min(d.event_type), '', min(d.created_at) from deliveries d
    where not exists (select 1 from events e where e.user_id = d.user_id and e.id = d.event_id)
    group by d.user_id, d.event_id;
insert into events (user_id, id, type, data, created_at, key_id)
    select a.user_id, a.event_id, min(a.event_type), '', min(a.attempted_at), a.key_id from attempts a
    where a.trigger_kind = 'test'
    and not exists (select 1 from events e where e.user_id = a.user_id and e.id = a.event_id)
    group by a.user_id, a.event_id, a.key_id;
update webhook_endpoints set exhausted_at = (select max(d.updated_at) from deliveries d
    where d.user_id = webhook_endpoints.user_id and d.endpoint_id = webhook_endpoints.id
    and d.status = 'failed' and d.attempts >= 8)
    where failing_since is not null;
