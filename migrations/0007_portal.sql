-- What came of webhooks, for those who look after them.

-- Dead letters are few among many deliveries, and are asked for newest first.
create index deliveries_failed on deliveries (user_id, event_id, endpoint_id) where status = 'failed';
