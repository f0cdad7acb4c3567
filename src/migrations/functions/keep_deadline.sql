-- Keeps the deadline of a record beside its table: see the table `deadlines`. The argument names the column that has it.
create or replace function keep_deadline() returns trigger language plpgsql as $$
declare
  was timestamptz(3);
  is_now timestamptz(3);
begin
  if tg_argv[0] = 'expires_at' then
    was := old.expires_at;
    is_now := new.expires_at;
  else
    was := old.due_at;
    is_now := new.due_at;
  end if;
  if was is not null then
    delete from deadlines d
    where (d.kind, d.mode, d.due_at, d.owner_id, d.id) = (tg_table_name::text, old.mode, was, old.owner_id, old.id);
  end if;
  if is_now is not null then
    insert into deadlines (kind, mode, due_at, owner_id, id) values (tg_table_name, new.mode, is_now, new.owner_id, new.id);
  end if;
  return null;
end $$;

create or replace trigger card_authorizations_deadline_begins after insert on card_authorizations
  for each row when (new.expires_at is not null) execute function keep_deadline('expires_at');
create or replace trigger card_authorizations_deadline_moves after update on card_authorizations
  for each row when (new.expires_at is distinct from old.expires_at) execute function keep_deadline('expires_at');
create or replace trigger card_authorizations_deadline_goes after delete on card_authorizations
  for each row when (old.expires_at is not null) execute function keep_deadline('expires_at');
create or replace trigger transfers_deadline_begins after insert on transfers
  for each row when (new.due_at is not null) execute function keep_deadline('due_at');
create or replace trigger transfers_deadline_moves after update on transfers
  for each row when (new.due_at is distinct from old.due_at) execute function keep_deadline('due_at');
create or replace trigger transfers_deadline_goes after delete on transfers
  for each row when (old.due_at is not null) execute function keep_deadline('due_at');
create or replace trigger mpp_credentials_deadline_begins after insert on mpp_credentials
  for each row when (new.due_at is not null) execute function keep_deadline('due_at');
create or replace trigger mpp_credentials_deadline_moves after update on mpp_credentials
  for each row when (new.due_at is distinct from old.due_at) execute function keep_deadline('due_at');
create or replace trigger mpp_credentials_deadline_goes after delete on mpp_credentials
  for each row when (old.due_at is not null) execute function keep_deadline('due_at');
create or replace trigger mpp_settlements_deadline_begins after insert on mpp_settlements
  for each row when (new.due_at is not null) execute function keep_deadline('due_at');
create or replace trigger mpp_settlements_deadline_moves after update on mpp_settlements
  for each row when (new.due_at is distinct from old.due_at) execute function keep_deadline('due_at');
create or replace trigger mpp_settlements_deadline_goes after delete on mpp_settlements
  for each row when (old.due_at is not null) execute function keep_deadline('due_at');
-- Its table is younger than the baseline, which is tried without later migrations.
do $$ begin
  if to_regclass('mpp_payments') is not null then
    create or replace trigger mpp_payments_deadline_begins after insert on mpp_payments
      for each row when (new.due_at is not null) execute function keep_deadline('due_at');
    create or replace trigger mpp_payments_deadline_moves after update on mpp_payments
      for each row when (new.due_at is distinct from old.due_at) execute function keep_deadline('due_at');
    create or replace trigger mpp_payments_deadline_goes after delete on mpp_payments
      for each row when (old.due_at is not null) execute function keep_deadline('due_at');
  end if;
end $$;
