-- The id of an event's delivery to a subscription: the same in every process, so that it is made once.
create or replace function delivery_id(event_id text, webhook_id text) returns text language sql immutable as $$
  select 'delivery_' || substr(event_id, 7, 10) || substr(md5(event_id || webhook_id), 1, 16)
$$;
