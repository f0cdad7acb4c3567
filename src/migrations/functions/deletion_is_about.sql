-- Whom a deletion is about, when it may begin, and when it was completed is said once. With real money it begins no earlier
-- than in seven days, and the years for which the law keeps records begin no earlier than now, by the clock of the database.
-- The clocks of two machines may be some minutes apart. Only the owning role says that a deletion was completed before a
-- backup was restored, and has it done again without delay: see reapply_deletion.
create or replace function deletion_is_about() returns trigger language plpgsql as $$
declare
  is_again constant boolean := coalesce(current_setting('agentpay.reapplying', true) = 'on'
    and current_user = (select pg_get_userbyid(relowner) from pg_class where oid = tg_relid), false);
begin
  if is_again then
    return new;
  end if;
  if tg_op = 'INSERT' then
    if new.status <> 'requested' or new.first_completed_at is not null
      or new.mode = 'live' and new.begins_at < clock_timestamp() + interval '7 days' - interval '10 minutes' then
      raise exception 'the deletion % would begin too early', new.id using errcode = 'restrict_violation';
    end if;
    return new;
  end if;
  if (old.owner_id, old.mode, old.id, old.subject_type, old.subject_id, old.begins_at, old.first_completed_at) is distinct from
    (new.owner_id, new.mode, new.id, new.subject_type, new.subject_id, new.begins_at, new.first_completed_at)
    or old.status = 'cancelled' or old.status = 'completed' and new.status <> 'completed' then
    raise exception 'the deletion % is about somebody else, or over', old.id using errcode = 'restrict_violation';
  end if;
  if new.completed_at is distinct from old.completed_at and (old.completed_at is not null
    or new.mode = 'live' and new.completed_at < clock_timestamp() - interval '10 minutes') then
    raise exception 'the deletion % was completed at another time', old.id using errcode = 'restrict_violation';
  end if;
  return new;
end $$;

create or replace trigger gdpr_deletions_about before insert or update on gdpr_deletions
  for each row execute function deletion_is_about();
