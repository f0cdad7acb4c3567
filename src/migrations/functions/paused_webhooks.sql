-- How many subscriptions are paused after failures, counted up to `most`.
create or replace function paused_webhooks(most integer) returns bigint
language plpgsql set enable_seqscan = off set enable_bitmapscan = off as $$
begin
  return (select count(*) from (select from webhooks
    where paused_until > clock_timestamp() and status = 'active' and deleted_at is null limit most) found);
end $$;
