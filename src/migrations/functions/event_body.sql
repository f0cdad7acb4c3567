-- The bytes that a webhook sends for an event. An event is never changed, so every attempt sends the same.
create or replace function event_body(event text, created_at timestamptz, data jsonb) returns text language sql stable as $$
  select '{"event":' || to_json(event) || ',"createdAt":"'
    || to_char(created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') || '","data":' || data || '}'
$$;
