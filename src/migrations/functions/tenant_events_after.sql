-- The events of a tenant behind a place of the journal and before the horizon, without those of transactions that are counted as
-- open, in the order of the journal, at most so many. The ranges of seals are in that order, so what this costs depends neither
-- on other owners nor on the tenant's past; what is not sealed yet is read from the journal's end. Ranges of late transactions
-- that end among those that are read have the rest.
create or replace function tenant_events_after(of_owner text, of_mode text, after_in bigint, after_id text, horizon bigint,
  counted_open bigint[], most integer)
returns setof events language plpgsql stable set enable_seqscan = off set enable_bitmapscan = off as $$
declare
  range record;
  -- Events in the ranges that are read. The first range may end just behind the place.
  read integer;
  until_in bigint;
  until_id text;
  found_now integer;
  found_all integer := 0;
begin
  loop
    read := null;
    until_in := 9223372036854775807;
    until_id := '';
    for range in
      select s.last_written_in, s.event_ids[cardinality(s.event_ids)] as last_id, cardinality(s.event_ids) as entries
      from audit_seals s
      where s.owner_id = of_owner and s.mode = of_mode and s.last_written_in >= after_in and not s.is_late
        and (s.last_written_in, s.event_ids[cardinality(s.event_ids)]) > (after_in, after_id)
      order by s.last_written_in, s.position limit most + 1
    loop
      read := case when read is null then 0 else read + range.entries end;
      if read >= most or range.last_written_in >= horizon then
        until_in := range.last_written_in;
        until_id := range.last_id;
        exit;
      end if;
    end loop;
    return query
      select found.* from (
        select e.* from audit_seals s
        cross join unnest(s.event_ids) as sealed(id)
        cross join lateral (
          select * from events one where (one.owner_id, one.mode, one.id) = (of_owner, of_mode, sealed.id) limit 1) e
        where s.owner_id = of_owner and s.mode = of_mode and s.last_written_in >= after_in and s.last_written_in <= until_in
          and (e.written_in, e.id) > (after_in, after_id) and (e.written_in, e.id) <= (until_in, until_id)
        union all
        select * from unsealed_events(of_owner, of_mode, after_in, after_id, until_in, until_id, counted_open, most)
      ) found
      where found.written_in < horizon and found.written_in <> all(counted_open)
      order by found.written_in, found.id limit most - found_all;
    get diagnostics found_now = row_count;
    found_all := found_all + found_now;
    exit when found_all >= most or until_in >= horizon;
    after_in := until_in;
    after_id := until_id;
  end loop;
end $$;
