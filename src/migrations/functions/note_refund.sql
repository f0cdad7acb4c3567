-- Notes when how much of a payment has come back, in the database transaction in which it does. Payments that nothing
-- comes back of never get here.
create or replace function note_refund() returns trigger language plpgsql as $$
begin
  insert into transaction_refunds (owner_id, mode, transaction_id, at, cents, written_in)
  select new.owner_id, new.mode, new.id, new.updated_at,
    new.refunded_cents - case when tg_op = 'UPDATE' then old.refunded_cents else 0 end,
    pg_current_xact_id()::text::bigint + added
  from journal_origin;
  return null;
end $$;

create or replace trigger transactions_note_refunds after update of refunded_cents on transactions
  for each row when (new.refunded_cents <> old.refunded_cents) execute function note_refund();
create or replace trigger transactions_note_first_refunds after insert on transactions
  for each row when (new.refunded_cents <> 0) execute function note_refund();
