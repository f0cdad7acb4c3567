-- Refuses to change or delete a SEPA file once its content is made.
create or replace function sepa_file_is_kept() returns trigger language plpgsql as $$
begin
  if old.content is not null and (tg_op = 'DELETE' or
    (old.content, old.sha256, old.message_id, old.payments, old.total_cents, old.made_at) is distinct from
    (new.content, new.sha256, new.message_id, new.payments, new.total_cents, new.made_at)) then
    raise exception 'the file % is made: it is not changed any more', old.id;
  end if;
  return case tg_op when 'DELETE' then old else new end;
end $$;

create or replace trigger sepa_files_are_kept before update or delete on sepa_files
  for each row execute function sepa_file_is_kept();
