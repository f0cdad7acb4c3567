-- Refuses changes of a table that is only ever added to: for its triggers on update, delete and truncate. Entries of the
-- audit trail and their seals are deleted by purge_audit alone, and persons are forgotten by forget_next alone: both say
-- so within their transaction.
create or replace function refuse_change() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' and current_setting('agentpay.purging', true) = 'on'
    and (tg_table_name = 'audit_seals' or tg_table_name like 'events\_%' or tg_table_name = 'events') then
    return old;
  end if;
  if tg_op = 'UPDATE' and is_forgetting(tg_relid) then
    return new;
  end if;
  raise exception '% is append-only', tg_table_name using errcode = 'restrict_violation';
end $$;
