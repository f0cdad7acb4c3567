-- How many deliveries wait and how many have been given up, counted up to `most` of each.
create or replace function delivery_counts(most integer) returns table (pending bigint, dead bigint)
language plpgsql set enable_seqscan = off set enable_bitmapscan = off as $$
begin
  return query select
    (select count(*) from (select from deliveries where status = 'pending' limit most) found),
    (select count(*) from (select from deliveries where status = 'dead' limit most) found);
end $$;
