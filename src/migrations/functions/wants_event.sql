-- Whether a subscription gets this event: what counts is what it wanted when the event was committed.
create or replace function wants_event(w webhooks, written_in bigint, event text, data jsonb) returns boolean
language sql stable as $$
  select case when written_in < (w).wanted_since then wanted_before(w, written_in, event)
      else (w).status = 'active' and (w).deleted_at is null and (event = 'webhook.ping' or (w).events && array['*', event]) end
    and (event <> 'webhook.ping' or data ->> 'webhookId' = (w).id)
$$;
