-- Forgets what a page of one table holds about the subject of a deletion: rows behind the place `behind`, at most so many.
-- Gives how many were changed, and the last place that was read; null where the table has no more rows. Which columns, and
-- what they hold then, the register says: nothing else can be asked for. Rows that hold nothing any more are not touched, so
-- repeating it changes nothing. Of somebody other than the owner only what is about them goes. Columns that the law keeps are
-- forgotten after the end of their years; of a record that it does not keep (`kept_while`), at once.
create or replace function forget_columns(d gdpr_deletions, of_table text, moment timestamptz, behind text[], most integer,
  out done integer, out last text[])
language plpgsql set search_path = public, pg_temp as $$
declare
  one record;
  ours text;
  forgotten text;
  sets text[] := '{}';
  holds text[] := '{}';
  whose text;
  files text;
  base text;
  page text;
  owner_column constant text := (select r.owner_column from personal_register() r where r.table_name = of_table limit 1);
  is_used boolean;
  key record;
  columns text;
  kept constant text := kept_while(of_table);
  began constant timestamptz := coalesce(d.first_completed_at, d.completed_at);
begin
  done := 0;
  -- Most tables have no row of an owner, and to plan the update of each takes longer than all updates.
  execute format('select exists (select from %I t where t.%I = $1)', of_table, owner_column) into is_used using d.owner_id;
  if not is_used then
    return;
  end if;
  for one in
    select r.*, format_type(a.atttypid, null) as type, over.is_over from personal_register() r
    join pg_attribute a on a.attrelid = r.table_name::regclass and a.attname = r.column_name
    cross join lateral (select r.years = 0 or coalesce(make_timestamptz(
      extract(year from began at time zone 'UTC')::int + r.years + 1, 1, 1, 0, 0, 0, 'UTC') <= moment, false)) as over (is_over)
    where r.table_name = of_table and r.treatment <> 'committed' and (over.is_over or kept <> 'true')
  loop
    ours := format('t.%I', one.column_name);
    forgotten := case one.treatment
      when 'null' then 'null'
      when 'word' then quote_literal('[forgotten]')
      when 'value' then quote_literal(one.fixed)
      when 'members' then format('%s || %L', ours, one.fixed)
      when 'pseudonym' then format($f$case when %1$s like 'forgotten-%%' then %1$s else 'forgotten-' || gen_random_uuid() end$f$, ours)
      when 'iban' then format($f$case when %1$s like 'ZZ00%%' then %1$s
        else 'ZZ00' || upper(substr(replace(gen_random_uuid()::text, '-', ''), 1, 26)) end$f$, ours)
      when 'address' then format($f$case when %1$s like 'https://forgotten.invalid/%%' then %1$s
        else 'https://forgotten.invalid/' || gen_random_uuid() end$f$, ours)
      when 'digest' then format($f$case when %1$s like '0000000000000000%%' then %1$s
        else '0000000000000000' || replace(gen_random_uuid()::text, '-', '') || '0000000000000000' end$f$, ours)
      when 'empty' then case one.type
        when 'jsonb' then format($f$case jsonb_typeof(%s) when 'array' then '[]' when 'object' then '{}' else '"[forgotten]"' end$f$, ours)
        else quote_literal('{}') end
    end;
    whose := case when d.subject_type = 'owner' then 'true' else (
      select format('(%s)', string_agg(format(case when place like '(%' then '%s = $3' else 't.%s = $3' end, place), ' or '))
      from (
        select jsonb_array_elements_text(one.about -> d.subject_type)
        -- The answer to a request, or to what somebody has asked in a sentence, names the id; what people sign about a policy
        -- or a deputy has it behind each name.
        union all select format('(case when position($3 in t.%s) > 0 then $3 end)', words)
        from (values ('idempotency_keys', 'body', null), ('conversation_turns', 'lines::text', null),
          ('change_requests', 'changes::text', 'changes')) as naming (of_them, words, only_column)
        where of_them = of_table and (only_column is null or only_column = one.column_name)
      ) as places (place)
      having count(*) > 0)
    end;
    continue when whose is null;
    whose := whose || case when one.is_over then '' else format(' and not (%s)', kept) end;
    sets := sets || format('%1$I = case when %2$s is not null and %3$s then (%4$s)::%5$s else %2$s end',
      one.column_name, ours, whose, forgotten, one.type);
    holds := holds || format('%1$s is not null and %2$s and %1$s is distinct from (%3$s)::%4$s', ours, whose, forgotten, one.type);
    files := case when one.treatment = 'digest' then whose else files end;
  end loop;
  if cardinality(sets) = 0 then
    return;
  end if;
  base := case when d.subject_type = 'owner' then format('t.%I = $1 and $2 is not null and $3 is not null', owner_column)
    else 't.owner_id = $1 and t.mode = $2 and $3 is not null' end;
  select * into key from key_of_table(of_table, owner_column);
  if cardinality(key.columns) > 0 then
    columns := (select string_agg(format('t.%I', name), ', ') from unnest(key.columns) as name);
    page := format('(%s) > (%s)', columns, (
      select string_agg(format('($4::text[])[%s]::%s', place, type), ', ') from unnest(key.types) with ordinality as k(type, place)));
    base := base || case when behind is null then ' and $4::text[] is null' else ' and ' || page end;
    execute format('select array[%s]::text[] from %I t where %s order by %s offset %s limit 1',
      (select string_agg(format('t.%I::text', name), ', ') from unnest(key.columns) as name), of_table, base, columns, most - 1)
    into last using d.owner_id, d.mode, d.subject_id, behind;
    base := base || case when last is null then ' and $5::text[] is null'
      else ' and ' || replace(replace(page, '$4', '$5'), ' > ', ' <= ') end;
  else
    base := base || ' and $4::text[] is null and $5::text[] is null';
  end if;
  if files is not null then
    execute format('delete from stored_files f using %I t where %s and %s
      and (f.owner_id, f.mode, f.used_by) = (t.owner_id, t.mode, t.id)', of_table, base, files)
    using d.owner_id, d.mode, d.subject_id, behind, last;
  end if;
  execute format('update %I t set %s where %s and (%s)', of_table, array_to_string(sets, ', '), base, array_to_string(holds, ' or '))
  using d.owner_id, d.mode, d.subject_id, behind, last;
  get diagnostics done = row_count;
end $$;

revoke execute on function forget_columns from public;
