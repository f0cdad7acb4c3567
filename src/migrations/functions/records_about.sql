-- The ids of the subject of a deletion and of the records that are about it, with the payments that came of them: their
-- events name it, too. Of the owner nothing is asked: all events are about the account.
create or replace function records_about(d gdpr_deletions) returns text[]
language plpgsql stable set search_path = public, pg_temp as $$
declare
  about text[] := array[d.subject_id];
  one record;
  more text[];
begin
  if d.subject_type = 'owner' then
    return about;
  end if;
  for one in
    select r.table_name, string_agg(distinct format('t.%s = $3', place), ' or ') as whose
    from personal_register() r cross join lateral jsonb_array_elements_text(r.about -> d.subject_type) as place
    where r.table_name <> 'events' and place not like '(%' and split_part(place, ' ', 1) not like '%\_by\_id' and split_part(place, ' ', 1) not in (
        select same.column_name from personal_register() same where same.table_name = r.table_name)
      and exists (select from pg_attribute a where a.attrelid = r.table_name::regclass and a.attname = 'id')
    group by 1
  loop
    execute format($f$select array_agg(t.id) || array_remove(array_agg(to_jsonb(t) ->> 'transaction_id'), null)
      from %I t where t.owner_id = $1 and t.mode = $2 and (%s)$f$, one.table_name, one.whose)
    into more using d.owner_id, d.mode, d.subject_id;
    about := about || coalesce(more, '{}');
  end loop;
  return about;
end $$;

revoke execute on function records_about from public;
