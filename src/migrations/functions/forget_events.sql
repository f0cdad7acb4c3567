-- Forgets the names in a page of the audit trail that are about the subject of a deletion: the ranges of sealed entries behind
-- the place `behind`, mode and position, until they have at least so many entries. Gives how many were changed, and the last
-- place that was read; null where the trail has no more. The leaf commits to a name under a salt: name and salt go, leaf and
-- commitment stay, so what was signed still verifies. A person who has only acted is forgotten by address; ids are left.
create or replace function forget_events(d gdpr_deletions, about text[], behind text[], most integer,
  out done integer, out last text[])
language plpgsql set search_path = public, pg_temp as $$
declare
  is_owner constant boolean := d.subject_type = 'owner';
  member constant text := member_of_subject(d.subject_type);
  after_mode constant text := coalesce(behind[1], case when is_owner then '' else d.mode end);
  after_position constant bigint := coalesce(behind[2]::bigint, -1);
  range record;
  seen integer := 0;
  changed integer;
begin
  done := 0;
  for range in
    select s.mode, s.position, s.event_ids, s.salts, cardinality(s.event_ids) as entries from audit_seals s
    where s.owner_id = d.owner_id and (is_owner or s.mode = d.mode)
      and (s.mode, s.position) > (after_mode, after_position - 256)
      and (s.mode, s.position + cardinality(s.event_ids) - 1) > (after_mode, after_position)
    order by s.mode, s.position
  loop
    exit when seen >= most;
    seen := seen + range.entries;
    last := array[range.mode, (range.position + range.entries - 1)::text];
    continue when '{}' = all (range.salts);
    with page as (
      select one.n, one.event_id, places.those
      from unnest(range.event_ids, range.salts) with ordinality as one(event_id, salts, n)
      join events e on (e.owner_id, e.mode, e.id) = (d.owner_id, range.mode, one.event_id)
      cross join lateral (
        select array_agg(name) as those from jsonb_object_keys(one.salts) as name
        where is_owner or name like 'data.%' and (e.resource_id = any(about) or e.data ->> member = d.subject_id)
          or name = 'address' and e.actor_id = d.subject_id
      ) as places
      where places.those is not null
        and (is_owner or e.resource_id = any(about) or e.actor_id = d.subject_id or e.data ->> member = d.subject_id)
    ), told as (
      update events e set data = forgotten_data(e.data, p.those),
        address = case when 'address' = any(p.those) then null else e.address end,
        actor_id = case when 'actorId' = any(p.those) then '[forgotten]' else e.actor_id end
      from page p where (e.owner_id, e.mode, e.id) = (d.owner_id, range.mode, p.event_id)
    ), unsalted as (
      update audit_seals s set salts = (
        select array_agg(case when p.those is null then one.salts else one.salts - p.those end order by one.n)
        from unnest(s.salts) with ordinality as one(salts, n) left join page p on p.n = one.n)
      where (s.owner_id, s.mode, s.position) = (d.owner_id, range.mode, range.position) and exists (select from page)
    )
    select count(*) into changed from page;
    done := done + changed;
  end loop;
end $$;

revoke execute on function forget_events from public;
