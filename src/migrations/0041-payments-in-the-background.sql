-- Area: commerce. A machine payment can wait: for a person's approval of its intent, or for a merchant that is away.
alter table mpp_payments add column is_async boolean not null default false;
alter table mpp_payments alter column is_async drop default;
alter table mpp_payments drop constraint mpp_payments_status_check;
alter table mpp_payments add constraint mpp_payments_status_check check (status in ('waiting', 'ordering', 'minted', 'ended'));
alter table mpp_payments drop constraint mpp_payments_check;
alter table mpp_payments add constraint mpp_payments_check check (status not in ('waiting', 'ordering') or request is not null and due_at is not null);
create index mpp_payments_waiting on mpp_payments (owner_id, mode, intent_id) where status = 'waiting';
create index mpp_payments_in_background on mpp_payments (owner_id, mode, agent_id) where is_async and status in ('waiting', 'ordering');

-- Area: control. Set once a payment waits for the approval of the intent: what decides the intent then tells it.
alter table intents add column payment_waits boolean not null default false;
