-- Frees what was taken by processes that have not renewed their lease in time; returns how many rows.
create or replace function free_leases(of_kind text) returns integer
language plpgsql set enable_seqscan = off as $$
declare
  dead text[];
  freed integer;
begin
  with gone as (
    delete from process_leases where kind = of_kind and held_until <= clock_timestamp() returning id
  )
  select array_agg(id) into dead from gone;
  if dead is null then
    return 0;
  end if;
  if of_kind = 'deliveries' then
    update deliveries set leased_until = null
    where status = 'pending' and leased_until is not null and leased_by = any(dead);
    get diagnostics freed = row_count;
    -- Without a lease these are read again: see claim_events.
    return freed + (select count(*) from delivery_ranges where leased_by = any(dead));
  elsif of_kind = 'pushes' then
    update pushes set leased_until = null where leased_until is not null and leased_by = any(dead);
  elsif of_kind = 'channel_messages' then
    update channel_messages set leased_until = null where leased_until is not null and leased_by = any(dead);
  elsif of_kind in ('streams', 'calls') then
    -- Streams have ended with the rows of their leases; a call without one is decided when it is asked about. What a run was
    -- posting when its worker died is posted again.
    with retries as (
      delete from retries_under_way r where r.leased_by = any(dead) returning r.delivery_id, r.leased_by
    )
    update deliveries d set leased_until = null from retries
    where d.id = retries.delivery_id and d.leased_by = retries.leased_by and d.leased_until is not null;
    return cardinality(dead);
  else
    update outbox set due_at = least(due_at, clock_timestamp()), leased_by = null, leased_until = null
    where leased_by = any(dead);
  end if;
  get diagnostics freed = row_count;
  return freed;
end $$;
