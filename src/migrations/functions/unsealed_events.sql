-- The events of a tenant that are not sealed yet, between two places of the journal, without the first one and without those
-- of transactions that are counted as open; at most so many of late transactions, and so many others in the order of the
-- journal. The owner is no condition of the inner reads: an index that begins with the owner would be read from the owner's
-- first event on.
create or replace function unsealed_events(of_owner text, of_mode text, after_in bigint, after_id text, until_in bigint,
  until_id text, counted_open bigint[], most integer)
returns setof events language plpgsql stable set enable_seqscan = off set enable_bitmapscan = off as $$
declare
  sealing audit_sealing;
  from_in bigint;
  from_id text;
begin
  select * into sealing from audit_sealing;
  select one.written_in, one.id into from_in, from_id
  from (values (sealing.written_in, sealing.id), (after_in, after_id)) as one(written_in, id)
  order by one.written_in desc, one.id collate "C" desc limit 1;
  return query
    (select e.* from (
        select * from events one
        where one.written_in = any(sealing.open) and (one.written_in, one.id) <= (sealing.written_in, sealing.id)
          and (one.written_in, one.id) > (after_in, after_id) and (one.written_in, one.id) <= (until_in, until_id)
        offset 0) e
      where e.owner_id = of_owner and e.mode = of_mode and e.written_in <> all(counted_open)
      order by e.written_in, e.id limit most)
    union all
    (select e.* from (
        select * from events one
        where one.written_in >= from_in and one.written_in <= until_in
          and (one.written_in, one.id) > (from_in, from_id) and (one.written_in, one.id) <= (until_in, until_id)
        order by one.written_in, one.id offset 0) e
      where e.owner_id = of_owner and e.mode = of_mode and e.written_in <> all(counted_open) limit most);
end $$;
