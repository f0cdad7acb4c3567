-- Forgets the names in a page of the audit trail that are about the subject of a deletion: sealed entries behind the place
-- `behind`, mode and position, at most so many. Gives how many were changed, and the last place that was read; null where
-- the trail has no more. The leaf commits to a name under a salt: name and salt go, leaf and commitment stay, so whatever was
-- signed still verifies. Somebody who has only acted is forgotten by address; ids are left.
create or replace function forget_events(d gdpr_deletions, about text[], behind text[], most integer,
  out done integer, out last text[])
language plpgsql set search_path = public, pg_temp as $$
declare
  is_owner constant boolean := d.subject_type = 'owner';
  member constant text := member_of_subject(d.subject_type);
  after_mode constant text := coalesce(behind[1], case when is_owner then '' else d.mode end);
  after_position constant bigint := coalesce(behind[2]::bigint, -1);
begin
  with read as materialized (
    select s.mode, s.position, s.event_id, s.salts from audit_seals s
    where s.owner_id = d.owner_id and (s.mode, s.position) > (after_mode, after_position) and (is_owner or s.mode = d.mode)
    order by s.mode, s.position limit most
  ), page as (
    select r.mode, r.position, r.event_id, places.those
    from read r
    join events e on (e.owner_id, e.mode, e.id) = (d.owner_id, r.mode, r.event_id)
    cross join lateral (
      select array_agg(name) as those from jsonb_object_keys(r.salts) as name
      where is_owner or name like 'data.%' and (e.resource_id = any(about) or e.data ->> member = d.subject_id)
        or name = 'address' and e.actor_id = d.subject_id
    ) as places
    where r.salts <> '{}' and places.those is not null
      and (is_owner or e.resource_id = any(about) or e.actor_id = d.subject_id or e.data ->> member = d.subject_id)
  ), told as (
    update events e set data = forgotten_data(e.data, p.those),
      address = case when 'address' = any(p.those) then null else e.address end,
      actor_id = case when 'actorId' = any(p.those) then '[forgotten]' else e.actor_id end
    from page p where (e.owner_id, e.mode, e.id) = (d.owner_id, p.mode, p.event_id)
  ), unsalted as (
    update audit_seals s set salts = s.salts - p.those
    from page p where (s.owner_id, s.mode, s.position) = (d.owner_id, p.mode, p.position)
    returning 1
  )
  select (select count(*) from unsalted), (select array[mode, position::text] from read order by mode desc, position desc limit 1)
  into done, last;
end $$;

revoke execute on function forget_events from public;
