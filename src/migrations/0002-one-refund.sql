-- A refund of what came for a payment request is a refund as any other: one record holds it, with the payment of the request
-- that it is of.

alter table refunds
  add column request_id text collate "C",
  add column payment_id text collate "C",
  -- The transfer by SEPA that takes it back.
  add column transfer_id text collate "C",
  drop constraint refunds_check7,
  drop constraint refunds_check9,
  add constraint refunds_asked_of_payment
    check (origin <> 'asked' or coalesce(transaction_id, payment_id) is not null and reason is not null),
  -- The processor asks the merchant of a card, the acquirer gives back what a card has paid here.
  add constraint refunds_ask_by_card check (
    ask_due_at is null or status = 'pending' and way = 'card' and coalesce(workflow_id, request_id) is not null),
  add constraint refunds_of_request check ((request_id is null) = (payment_id is null)),
  add constraint refunds_by_transfer check (transfer_id is null or way = 'sepa' and request_id is not null),
  add foreign key (owner_id, mode, request_id) references payment_requests (owner_id, mode, id)
    deferrable initially deferred,
  add foreign key (owner_id, mode, payment_id) references request_payments (owner_id, mode, id)
    deferrable initially deferred,
  add foreign key (owner_id, mode, transfer_id) references transfers (owner_id, mode, id) deferrable initially deferred;

create index refunds_by_request on refunds (owner_id, mode, request_id, id) where request_id is not null;
create unique index refunds_of_transfer on refunds (owner_id, mode, transfer_id) where transfer_id is not null;

update refunds r set request_id = old.request_id, payment_id = old.payment_id, transfer_id = old.transfer_id,
  attempts = old.attempts, ask_due_at = old.due_at
from request_refunds old
where (r.owner_id, r.mode, r.id) = (old.owner_id, old.mode, replace(old.id, 'requestrefund_', 'refund_'));

-- Those of payments without a transaction had no refund of their own.
insert into refunds (owner_id, mode, id, created_at, updated_at, agent_id, status, origin, way, amount_cents, arrived_cents,
  reason, note, failure, source_type, source_id, attempts, ask_due_at, completed_at, request_id, payment_id, transfer_id)
select old.owner_id, old.mode, replace(old.id, 'requestrefund_', 'refund_'), old.created_at, old.updated_at,
  request.agent_id, case old.status when 'returned' then 'failed' else old.status end, 'asked', old.way, old.amount_cents,
  case old.status when 'completed' then old.amount_cents else 0 end, 'other', old.reason, old.failure, 'request_refund', old.id,
  old.attempts, old.due_at, old.completed_at, old.request_id, old.payment_id, old.transfer_id
from request_refunds old
join payment_requests request using (owner_id, mode)
where request.id = old.request_id
on conflict do nothing;

set constraints all immediate;
set constraints all deferred;

drop table request_refunds;
