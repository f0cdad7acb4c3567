-- Forgets the names in entries of the audit trail about the subject of a deletion, at most so many entries; returns how many,
-- or -1 while some are not sealed yet. The leaf commits to a name under a salt: name and salt go, leaf and commitment stay,
-- so whatever was signed still verifies. Somebody who has only acted is forgotten by address; ids are left.
create or replace function forget_events(d gdpr_deletions, most integer) returns integer
language plpgsql set search_path = public, pg_temp as $$
declare
  is_owner constant boolean := d.subject_type = 'owner';
  member constant text := case d.subject_type
    when 'person' then 'personId' when 'beneficiary' then 'beneficiaryId' when 'payer' then 'requestId' end;
  -- The subject, and the records that are about it: their events name it, too.
  about text[] := array[d.subject_id];
  one record;
  more text[];
  done integer;
begin
  for one in
    select r.table_name, string_agg(distinct format('t.%s = $3', place), ' or ') as whose
    from personal_register() r cross join lateral jsonb_array_elements_text(r.about -> d.subject_type) as place
    where r.table_name <> 'events' and split_part(place, ' ', 1) not like '%\_by\_id' and split_part(place, ' ', 1) not in (
        select same.column_name from personal_register() same where same.table_name = r.table_name)
      and exists (select from pg_attribute a where a.attrelid = r.table_name::regclass and a.attname = 'id')
    group by 1
  loop
    -- The payment that came of it has events of its own.
    execute format($f$select array_agg(t.id) || array_remove(array_agg(to_jsonb(t) ->> 'transaction_id'), null)
      from %I t where t.owner_id = $1 and t.mode = $2 and (%s)$f$, one.table_name, one.whose)
    into more using d.owner_id, d.mode, d.subject_id;
    about := about || coalesce(more, '{}');
  end loop;
  if exists (
    select from events e where e.owner_id = d.owner_id and (is_owner or e.mode = d.mode and
        (e.resource_id = any(about) or e.actor_id = d.subject_id or e.data ->> member = d.subject_id))
      and not exists (
        select from audit_seals s where (s.owner_id, s.mode, s.event_id) = (e.owner_id, e.mode, e.id))) then
    return -1;
  end if;
  with page as (
    select s.owner_id, s.mode, s.position, s.event_id, places.those
    from audit_seals s
    join events e on (e.owner_id, e.mode, e.id) = (s.owner_id, s.mode, s.event_id)
    cross join lateral (
      select array_agg(name) as those from jsonb_object_keys(s.salts) as name
      where is_owner or name like 'data.%' and (e.resource_id = any(about) or e.data ->> member = d.subject_id)
        or name = 'address' and e.actor_id = d.subject_id
    ) as places
    where s.owner_id = d.owner_id and (is_owner or s.mode = d.mode) and s.salts <> '{}' and places.those is not null
      and (is_owner or e.resource_id = any(about) or e.actor_id = d.subject_id or e.data ->> member = d.subject_id)
    limit most
  ), told as (
    update events e set data = forgotten_data(e.data, p.those),
      address = case when 'address' = any(p.those) then null else e.address end,
      actor_id = case when 'actorId' = any(p.those) then '[forgotten]' else e.actor_id end
    from page p where (e.owner_id, e.mode, e.id) = (p.owner_id, p.mode, p.event_id)
  )
  update audit_seals s set salts = s.salts - p.those
  from page p where (s.owner_id, s.mode, s.position) = (p.owner_id, p.mode, p.position);
  get diagnostics done = row_count;
  return done;
end $$;

revoke execute on function forget_events from public;
