-- Refuses changes of a table that is only ever added to: for its triggers on update, delete and truncate.
create or replace function refuse_change() returns trigger language plpgsql as $$
begin
  raise exception '% is append-only', tg_table_name using errcode = 'restrict_violation';
end $$;
