-- Written by `npm run openapi` from what each noun says of its columns. Which records of a table the law has kept, as a condition by the
-- row, which is called `t`; of any other table all of them.
create or replace function kept_while(of_table text) returns text language sql immutable as $$ select case of_table
  when 'approval_openings' then '((not exists (select from intents o where (o.owner_id, o.mode, o.id) = (t.owner_id, t.mode, (select a.intent_id from approvals a where (a.owner_id, a.mode, a.id) = (t.owner_id, t.mode, t.id))) and o.status in (''denied'', ''cancelled'', ''expired'') and o.transaction_id is null and o.payment_id is null))) or (exists (select from card_authorizations p
    where (p.owner_id, p.mode, p.intent_id) = (t.owner_id, t.mode, (select a.intent_id from approvals a where (a.owner_id, a.mode, a.id) = (t.owner_id, t.mode, t.id))) and not ((p.status = ''declined'' or p.status = ''void'' and p.transaction_id is null)
  and p.captured_cents + p.cleared_cents + p.refunded_cents = 0)))'
  when 'approvals' then '((not exists (select from intents o where (o.owner_id, o.mode, o.id) = (t.owner_id, t.mode, t.intent_id) and o.status in (''denied'', ''cancelled'', ''expired'') and o.transaction_id is null and o.payment_id is null))) or (exists (select from card_authorizations p
    where (p.owner_id, p.mode, p.intent_id) = (t.owner_id, t.mode, t.intent_id) and not ((p.status = ''declined'' or p.status = ''void'' and p.transaction_id is null)
  and p.captured_cents + p.cleared_cents + p.refunded_cents = 0)))'
  when 'card_authorizations' then 'not ((t.status = ''declined'' or t.status = ''void'' and t.transaction_id is null)
  and t.captured_cents + t.cleared_cents + t.refunded_cents = 0)'
  when 'card_messages' then 'not exists (select from card_authorizations o where (o.owner_id, o.mode, o.id) = (t.owner_id, t.mode, t.authorization_id) and (o.status = ''declined'' or o.status = ''void'' and o.transaction_id is null)
  and o.captured_cents + o.cleared_cents + o.refunded_cents = 0)'
  when 'decisions' then '((true) and (not (exists (select from intents o where (o.owner_id, o.mode, o.id) = (t.owner_id, t.mode, t.subject_id) and o.status in (''denied'', ''cancelled'', ''expired'') and o.transaction_id is null and o.payment_id is null))) and (not (exists (select from card_authorizations o where (o.owner_id, o.mode, o.id) = (t.owner_id, t.mode, t.subject_id) and (o.status = ''declined'' or o.status = ''void'' and o.transaction_id is null)
  and o.captured_cents + o.cleared_cents + o.refunded_cents = 0)))) or (exists (select from card_authorizations p
    where (p.owner_id, p.mode, p.intent_id) = (t.owner_id, t.mode, t.subject_id) and not ((p.status = ''declined'' or p.status = ''void'' and p.transaction_id is null)
  and p.captured_cents + p.cleared_cents + p.refunded_cents = 0)))'
  when 'evidence' then 'not exists (select from intents o where (o.owner_id, o.mode, o.id) = (t.owner_id, t.mode, t.intent_id) and o.status in (''denied'', ''cancelled'', ''expired'') and o.transaction_id is null and o.payment_id is null) or exists (select from card_authorizations p
    where (p.owner_id, p.mode, p.intent_id) = (t.owner_id, t.mode, t.intent_id) and not ((p.status = ''declined'' or p.status = ''void'' and p.transaction_id is null)
  and p.captured_cents + p.cleared_cents + p.refunded_cents = 0))'
  when 'fundings' then 't.status <> ''failed'''
  when 'intents' then '((not (t.status in (''denied'', ''cancelled'', ''expired'') and t.transaction_id is null and t.payment_id is null))) or (exists (select from card_authorizations p
    where (p.owner_id, p.mode, p.intent_id) = (t.owner_id, t.mode, t.id) and not ((p.status = ''declined'' or p.status = ''void'' and p.transaction_id is null)
  and p.captured_cents + p.cleared_cents + p.refunded_cents = 0)))'
  when 'mpp_credentials' then 't.status <> ''void'' or t.transaction_id is not null'
  when 'mpp_settlements' then 't.status <> ''declined'''
  when 'payment_requests' then 't.status not in (''cancelled'', ''expired'') or t.paid_cents + t.surplus_cents > 0'
  when 'payment_tokens' then 't.status not in (''denied'', ''revoked'', ''expired'')'
  when 'people' then 't.joined_at is not null'
  when 'receipts' then 't.status not in (''unread'', ''unmatched'', ''suggested'') or t.transaction_id is not null'
  when 'recorded_approvals' then '((not exists (select from intents o where (o.owner_id, o.mode, o.id) = (t.owner_id, t.mode, t.intent_id) and o.status in (''denied'', ''cancelled'', ''expired'') and o.transaction_id is null and o.payment_id is null))) or (exists (select from card_authorizations p
    where (p.owner_id, p.mode, p.intent_id) = (t.owner_id, t.mode, t.intent_id) and not ((p.status = ''declined'' or p.status = ''void'' and p.transaction_id is null)
  and p.captured_cents + p.cleared_cents + p.refunded_cents = 0)))'
  when 'refunds' then 't.status not in (''cancelled'', ''failed'') or t.arrived_cents > 0 or t.completed_at is not null'
  when 'request_payments' then 't.status <> ''failed'''
  when 'sepa_notices' then 'not exists (select from transfers o where (o.owner_id, o.mode, o.id) = (t.owner_id, t.mode, t.transfer_id) and o.status = ''cancelled'' and o.submitted_at is null)'
  when 'transactions' then '((true) and (not (t.status = ''declined'' and exists (
      select from card_authorizations a where (a.owner_id, a.mode, a.transaction_id) = (t.owner_id, t.mode, t.id)
      and (a.status = ''declined'' or a.status = ''void'' and a.transaction_id is null)
  and a.captured_cents + a.cleared_cents + a.refunded_cents = 0))))'
  when 'transfers' then 't.status <> ''cancelled'' or t.submitted_at is not null'
  else 'true'
end $$;
