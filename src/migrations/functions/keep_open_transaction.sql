-- Keeps the payments that have neither ended nor failed: see the table `open_transactions`.
create or replace function keep_open_transaction() returns trigger language plpgsql as $$
begin
  if tg_op <> 'DELETE' and new.status in ('authorization', 'settlement', 'settled') then
    insert into open_transactions (owner_id, mode, id) values (new.owner_id, new.mode, new.id);
  else
    delete from open_transactions o where (o.owner_id, o.mode, o.id) = (old.owner_id, old.mode, old.id);
  end if;
  return null;
end $$;

create or replace trigger transactions_open after insert on transactions
  for each row when (new.status in ('authorization', 'settlement', 'settled')) execute function keep_open_transaction();
create or replace trigger transactions_open_or_end after update on transactions
  for each row when ((new.status in ('authorization', 'settlement', 'settled'))
    <> (old.status in ('authorization', 'settlement', 'settled'))) execute function keep_open_transaction();
create or replace trigger transactions_go after delete on transactions
  for each row when (old.status in ('authorization', 'settlement', 'settled')) execute function keep_open_transaction();
