-- Refuses to delete a SEPA instruction, and to add or change one in a file that is closed. The names in it are forgotten once
-- the law keeps them no longer.
create or replace function sepa_instruction_is_kept() returns trigger language plpgsql as $$
begin
  if tg_op = 'UPDATE' and is_forgetting(tg_relid) then
    return new;
  end if;
  if tg_op = 'DELETE' or exists (select from sepa_files where id = new.file_id and status <> 'open') then
    raise exception 'the payment % is ordered: it is not changed any more', coalesce(old.id, new.id);
  end if;
  -- The processes of the version before m0080 name no owner.
  if new.owner_id is null then
    select t.owner_id, t.mode into new.owner_id, new.mode from transfers t where t.id = new.id;
  end if;
  return new;
end $$;
