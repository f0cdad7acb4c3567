-- Whether a subscription wanted this event of an earlier transaction, before it was changed.
create or replace function wanted_before(of_webhook webhooks, transaction bigint, event text) returns boolean
language plpgsql stable as $$
begin
  return coalesce((
    select case event when 'webhook.ping' then v.events <> '{}' else v.events && array['*', event] end
    from webhook_versions v
    where (v.owner_id, v.mode, v.webhook_id) = (of_webhook.owner_id, of_webhook.mode, of_webhook.id)
      and v.since <= transaction and v.until > transaction), false);
end $$;
