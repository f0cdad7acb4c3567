-- Area: money. What the merchant of a payment took in its own currency, how many euros were held for it, and what of it
-- was refunded; null for a payment in euros.
alter table transactions add column original jsonb;
-- For the forecast, which finds the last charge of a subscription. A payment in euros has no entry.
create index transactions_in_other_currencies on transactions (agent_id, created_at)
  where agent_id is not null and original is not null;
