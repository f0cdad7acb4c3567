-- Area: money. A payer's bank takes a funding back, in part or whole, and may give it again.
alter table fundings add column reversed_cents bigint check (reversed_cents between 1 and amount_cents);
update fundings set reversed_cents = amount_cents where status = 'reversed';
alter table fundings
  drop constraint fundings_status_check,
  drop constraint fundings_credit,
  drop constraint fundings_reason,
  drop constraint fundings_reversed,
  drop constraint fundings_settled,
  add constraint fundings_status_check
    check (status in ('pending', 'requires_action', 'settled', 'failed', 'reversed', 'reinstated')),
  add constraint fundings_credit check (credit_id is null or status in ('settled', 'reversed', 'reinstated')),
  add constraint fundings_reason check (status in ('failed', 'reversed', 'reinstated') = (reason is not null)),
  add constraint fundings_reversed check (status in ('reversed', 'reinstated') = (reversed_at is not null)
    and (reversed_at is null) = (reversed_cents is null)),
  add constraint fundings_settled check (status in ('settled', 'reversed', 'reinstated') = (settled_at is not null));

-- A payment method is found by the processor's name for it.
create index payment_methods_by_token on payment_methods (owner_id, mode, token);

-- Area: identity. When the provider erases what it has collected from the person.
alter table kyc_submissions add column redact_at timestamptz(3);
create index kyc_submissions_to_redact on kyc_submissions (mode, redact_at) where redact_at is not null;
