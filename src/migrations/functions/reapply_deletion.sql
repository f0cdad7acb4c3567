-- Has a deletion carried out again that was completed, or at least asked for, before a backup was restored. Gives what came of it: `again`, it is as
-- it was asked for then, with the same seven days; `open`, the backup has it and it goes on by itself; `completed`, the
-- backup is younger than its completion; `unknown`, the account is younger than the backup, so nothing is held. It is
-- no function of the service's role, whose deletions wait: whoever owns the tables runs it, by hand, after a restore.
create or replace function reapply_deletion(of_owner text, of_mode text, deletion text, of_type text, subject text,
  began timestamptz, completed timestamptz) returns text
language plpgsql set search_path = public, pg_temp as $$
declare
  d gdpr_deletions;
begin
  if began is null or completed < began or of_mode = 'live' and completed > clock_timestamp() then
    raise exception 'the deletion % cannot have been completed then', deletion using errcode = 'restrict_violation';
  end if;
  perform from customers c where c.id = of_owner for update;
  if not found then
    return 'unknown';
  end if;
  select * into d from gdpr_deletions g where (g.owner_id, g.mode, g.id) = (of_owner, of_mode, deletion) for update;
  if d.status = 'completed' then
    return 'completed';
  end if;
  if d.id is not null and (d.status = 'cancelled' or (d.subject_type, d.subject_id) <> (of_type, subject)) then
    raise exception 'the deletion % of this database is another one', deletion using errcode = 'restrict_violation';
  end if;
  -- Another one of the same subject that has begun goes on, and forgets the same.
  perform from gdpr_deletions g where (g.owner_id, g.mode, g.subject_type, g.subject_id) = (of_owner, of_mode, of_type, subject)
    and g.id <> deletion and g.status in ('ending', 'forgetting');
  if found then
    return 'open';
  end if;
  perform set_config('agentpay.reapplying', 'on', true);
  -- One that was open when the backup was made, and over before this one was requested.
  update gdpr_deletions g set status = 'cancelled', cancelled_at = now(), due_at = null, waits_for = '[]', updated_at = now()
  where (g.owner_id, g.mode, g.subject_type, g.subject_id) = (of_owner, of_mode, of_type, subject)
    and g.id <> deletion and g.status in ('requested', 'waiting');
  insert into gdpr_deletions as g (owner_id, mode, id, created_at, updated_at, status, subject_type, subject_id, answer_by,
    begins_at, first_completed_at, due_at, workflow_id)
  values (of_owner, of_mode, deletion, began - interval '7 days', now(), 'requested', of_type, subject,
    began + interval '23 days', began, completed, began, 'gdpr-deletion/' || deletion)
  on conflict (owner_id, mode, id) do update set first_completed_at = excluded.first_completed_at;
  perform set_config('agentpay.reapplying', 'off', true);
  return case when d.id is null then 'again' else 'open' end;
end $$;

revoke execute on function reapply_deletion from public;
