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
  return new;
end $$;

create or replace trigger sepa_instructions_are_kept before insert or update or delete on sepa_instructions
  for each row execute function sepa_instruction_is_kept();
