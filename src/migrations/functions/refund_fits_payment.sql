-- Refuses to ask for more than is left of a payment: what has come back, what refunds await and what disputes claim or have
-- brought are at most what was paid, on every channel. It locks the payment, so that of refunds and disputes that ask at
-- once only those that fit are taken. The sums are read behind the lock.
create or replace function refund_fits_payment() returns trigger language plpgsql as $$
declare
  left_cents bigint;
begin
  select amount_cents - refunded_cents into left_cents from transactions
  where (owner_id, mode, id) = (new.owner_id, new.mode, new.transaction_id) for no key update;
  if left_cents < (
    select coalesce(sum(amount_cents - arrived_cents), 0) from refunds
    where (owner_id, mode, transaction_id) = (new.owner_id, new.mode, new.transaction_id) and status = 'pending'
  ) + (
    select coalesce(sum(counted_cents), 0) from disputes
    where (owner_id, mode, transaction_id) = (new.owner_id, new.mode, new.transaction_id))
  then
    raise exception 'the refunds and disputes of a payment must not exceed it'
      using errcode = 'check_violation', constraint = tg_name;
  end if;
  return null;
end $$;

create or replace trigger refunds_fit_payment after insert on refunds
  for each row when (new.status = 'pending') execute function refund_fits_payment();
-- What a network decides later is a fact, and no request: it is never refused.
create or replace trigger disputes_fit_payment after insert on disputes
  for each row execute function refund_fits_payment();
create or replace trigger raised_disputes_fit_payment after update of amount_cents on disputes
  for each row when (new.amount_cents > old.amount_cents) execute function refund_fits_payment();
