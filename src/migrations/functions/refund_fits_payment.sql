-- Refuses to ask for more than is left of a payment: what has come back, what is awaited and what is disputed are at most what
-- was paid, on every channel. It locks the payment, so that of refunds asked for at once only those that fit are taken.
create or replace function refund_fits_payment() returns trigger language plpgsql as $$
declare
  left_cents bigint;
begin
  select amount_cents - refunded_cents - disputed_cents into left_cents from transactions
  where (owner_id, mode, id) = (new.owner_id, new.mode, new.transaction_id) for no key update;
  if left_cents < (
    select sum(amount_cents - arrived_cents) from refunds
    where (owner_id, mode, transaction_id) = (new.owner_id, new.mode, new.transaction_id) and status = 'pending')
  then
    raise exception 'the refunds of a payment must not exceed it'
      using errcode = 'check_violation', constraint = 'refunds_fit_payment';
  end if;
  return null;
end $$;

create or replace trigger refunds_fit_payment after insert on refunds
  for each row when (new.status = 'pending') execute function refund_fits_payment();
