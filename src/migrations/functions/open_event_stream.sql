-- Takes a place for a stream of the owner; false where all are taken. Openings of an owner wait for each
-- other, so that no two take the same one. The streams of a process that has died end with its lease.
create or replace function open_event_stream(of_owner text, stream text, holder text, most integer)
returns boolean
language plpgsql set enable_seqscan = off as $$
declare
  free integer;
begin
  perform pg_advisory_xact_lock(hashtextextended('streams ' || of_owner, 0));
  if (select count(*) from event_streams s where s.owner_id = of_owner) >= most then
    delete from process_leases where kind = 'streams' and held_until <= clock_timestamp();
  end if;
  select n into free from generate_series(1, most) as n
  where not exists (select from event_streams s where (s.owner_id, s.place) = (of_owner, n)) order by n limit 1;
  if free is not null then
    insert into event_streams (owner_id, place, id, leased_by, opened_at)
    values (of_owner, free, stream, holder, clock_timestamp());
  end if;
  return free is not null;
end $$;
