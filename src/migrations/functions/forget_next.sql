-- Forgets the subject of a deletion, at most so many records in one go, and reads no longer than two seconds; how far it has
-- come is kept in the row of the deletion. Gives how many records were changed, and whether there is `more`, whether an entry
-- of the audit trail is not sealed yet (`unsealed`), or whether it is `done`: a whole pass over all tables has found nothing.
-- It does nothing for whom no deletion has begun: who is meant and from when on the row of the deletion says, which nobody
-- can change. In live mode the database's own clock counts. After the completion it forgets what the law has kept, once its
-- end has come.
create or replace function forget_next(of_owner text, of_mode text, deletion text, at timestamptz, most integer,
  out records integer, out state text)
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  -- Rows that are read, and changed, by one statement.
  page constant integer := 10000;
  ends constant timestamptz := clock_timestamp() + interval '2 seconds';
  moment constant timestamptz := case of_mode when 'live' then clock_timestamp() else at end;
  d gdpr_deletions;
  about text[];
  tables text[];
  number integer;
  behind text[];
  changed integer;
  trail text[];
  step record;
begin
  select * into d from gdpr_deletions g where (g.owner_id, g.mode, g.id) = (of_owner, of_mode, deletion) for update;
  if d.id is null or d.status not in ('forgetting', 'completed') or d.begins_at > moment then
    raise exception 'nothing is forgotten before a deletion has begun' using errcode = 'restrict_violation';
  end if;
  if d.subject_type = 'owner' and of_mode = 'test' and (
    exists (select from customers c where c.id = of_owner and c.kyc_status = 'verified')
    or exists (select from ledger_accounts l where l.owner_id = of_owner and l.mode = 'live')) then
    raise exception 'an account that can have live money is forgotten in live mode only' using errcode = 'restrict_violation';
  end if;
  about := records_about(d);
  -- The account itself comes last: while it has a name, something is left.
  tables := array(select r.table_name from personal_register() r group by 1 order by r.table_name = 'customers', 1);
  number := coalesce(array_position(tables, d.place ->> 'table'), 1);
  behind := case when d.place ->> 'table' = tables[number] and jsonb_typeof(d.place -> 'behind') = 'array'
    then array(select jsonb_array_elements_text(d.place -> 'behind')) end;
  trail := case when jsonb_typeof(d.place -> 'trail') = 'array' then array(select jsonb_array_elements_text(d.place -> 'trail')) end;
  changed := coalesce((d.place ->> 'changed')::integer, 0);
  records := 0;
  perform set_config('agentpay.forgetting', 'on', true);
  loop
    if tables[number] = 'events' then
      select * into step from forget_events(d, about, trail, least(page, most - records));
      trail := coalesce(step.last, trail);
    else
      select * into step from forget_columns(d, tables[number], moment, behind, least(page, most - records));
    end if;
    records := records + step.done;
    changed := changed + step.done;
    behind := step.last;
    if behind is null then
      number := number + 1;
    end if;
    if number > cardinality(tables) then
      number := 1;
      state := case when changed > 0 then null when is_unsealed_about(d, about) then 'unsealed' else 'done' end;
      changed := 0;
    end if;
    exit when state is not null;
    if records >= most or clock_timestamp() > ends then
      state := 'more';
      exit;
    end if;
  end loop;
  perform set_config('agentpay.forgetting', 'off', true);
  update gdpr_deletions g set place = jsonb_build_object('table', tables[number], 'behind', behind, 'trail', trail, 'changed', changed)
  where (g.owner_id, g.mode, g.id) = (of_owner, of_mode, deletion);
end $$;

revoke execute on function forget_next from public;
grant execute on function forget_next to agentpay_application;
