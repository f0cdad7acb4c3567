-- Area: money. What payers' banks give back of a funding, in parts and more than once: both sums only grow.
alter table fundings
  add column reinstated_cents bigint,
  drop constraint fundings_check1;
update fundings set reinstated_cents = case status when 'reinstated' then reversed_cents else 0 end
where reversed_cents is not null;
alter table fundings
  add constraint fundings_reversed_cents check (reversed_cents > 0),
  add constraint fundings_reinstated check ((reversed_cents is null) = (reinstated_cents is null)
    and reversed_cents - reinstated_cents between 0 and amount_cents
    and (status = 'reinstated') = (reversed_cents is not null and reversed_cents = reinstated_cents));

-- When the processor is to erase the payer of a removed payment method; null once it has.
alter table payment_methods
  add column erase_at timestamptz(3),
  add constraint payment_methods_erased_once_removed check (erase_at is null or status = 'removed');
create index payment_methods_to_erase on payment_methods (mode, erase_at) where erase_at is not null;
