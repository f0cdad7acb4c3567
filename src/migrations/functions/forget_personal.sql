-- Forgets the subject of a deletion, at most so many records in one go; returns how many, and fewer than that only where
-- nothing is left; or -1 while an entry of the audit trail is not sealed yet. It does nothing for whom no deletion has begun:
-- who is meant and from when on the row of the deletion says, which nobody can change. In live mode the database's own clock
-- counts. After the completion it forgets what the law has kept, once its end has come.
create or replace function forget_personal(of_owner text, of_mode text, deletion text, at timestamptz, most integer)
returns integer language plpgsql security definer set search_path = public, pg_temp as $$
declare
  d gdpr_deletions;
  moment timestamptz := case of_mode when 'live' then clock_timestamp() else at end;
  of_table text;
  done integer := 0;
  step integer;
begin
  select * into d from gdpr_deletions g where (g.owner_id, g.mode, g.id) = (of_owner, of_mode, deletion);
  if d.id is null or d.status not in ('forgetting', 'completed') or d.begins_at > moment then
    raise exception 'nothing is forgotten before a deletion has begun' using errcode = 'restrict_violation';
  end if;
  if d.subject_type = 'owner' and of_mode = 'test' and (
    exists (select from customers c where c.id = of_owner and c.kyc_status = 'verified')
    or exists (select from ledger_accounts l where l.owner_id = of_owner and l.mode = 'live')) then
    raise exception 'an account that can have live money is forgotten in live mode only' using errcode = 'restrict_violation';
  end if;
  perform set_config('agentpay.forgetting', 'on', true);
  -- The account itself comes last: while it has a name, something is left.
  for of_table in
    select r.table_name from personal_register() r group by 1 order by r.table_name = 'customers', 1
  loop
    step := case when of_table = 'events' then forget_events(d, most - done)
      else forget_columns(d, of_table, moment, most - done) end;
    if step < 0 then
      done := step;
      exit;
    end if;
    done := done + step;
    exit when done >= most;
  end loop;
  perform set_config('agentpay.forgetting', 'off', true);
  return done;
end $$;

revoke execute on function forget_personal from public;
grant execute on function forget_personal to agentpay_application;
