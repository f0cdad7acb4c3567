-- Enters the number of a new wallet into the register of references. The purse of a card has none: nothing from outside is
-- for it.
create or replace function wallet_takes_reference() returns trigger language plpgsql
  set search_path = public, pg_temp as $$
begin
  insert into payment_references (owner_id, mode, number, created_at, wallet_id)
  values (new.owner_id, new.mode, new.reference_number, new.created_at, new.id);
  return null;
end $$;
create or replace trigger wallet_takes_reference after insert on wallets
  for each row when (new.kind <> 'card') execute function wallet_takes_reference();
