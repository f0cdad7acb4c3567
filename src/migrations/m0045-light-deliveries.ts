import { Migration } from '@mikro-orm/migrations'

/** Less to do for each delivery, when there are thousands a second. */
export class LightDeliveries extends Migration {
  override up(): void {
    this.addSql(`
      -- Of no use: a delivery is found by its id, or by the webhook that it goes to. Each mark paid for it.
      alter table deliveries drop constraint deliveries_owner_id_mode_id_key;

      -- A webhook has one owner: with less in it each mark writes less.
      create index deliveries_of_webhook on deliveries (webhook_id, id);
      drop index deliveries_by_webhook;

      -- Deliveries are made in one place, of an event and a webhook that are there, and neither of these is ever deleted.
      -- To prove it for each of them by itself took as long as to make it, and locked the webhook for everybody else.
      alter table deliveries drop constraint deliveries_event_id_fkey, drop constraint deliveries_webhook_id_fkey;

      -- Of these attempts (by their deliveries' ids) those that were taken by receivers with which all is well, and for
      -- which nobody waits in Temporal: their deliveries move from one status to the other. Gives which; the others need
      -- a closer look. That the old status is a parameter keeps PostgreSQL from reading all that are open: each is found
      -- by its id.
      create function mark_delivered(taken jsonb, webhook_ids text[], old_status text, new_status text)
      returns setof text language plpgsql rows 100
      set enable_seqscan = off set enable_bitmapscan = off set plan_cache_mode = force_generic_plan as $$
      declare
        well text[] := array(select w.id from webhooks w where w.id = any(webhook_ids) and w.failures = 0);
      begin
        return query
        update deliveries d set status = new_status, due_at = null, leased_until = null, updated_at = clock_timestamp(),
          attempts = d.attempts || (taken -> d.id)
        where d.id = any(array(select jsonb_object_keys(taken))) and d.status = old_status and d.workflow_id is null
          and jsonb_array_length(d.attempts) < 10 and d.webhook_id = any(well)
        returning d.id;
      end $$;

      -- Of each subscription so many that nobody has, the oldest first, for a while. In one statement: the one around this
      -- function may have begun before the event was there. What has just been locked is found by its place.
      create function claim_deliveries(webhook_ids text[], counts integer[], lease interval)
      returns table (id text, webhook_id text, claim integer, event text, request_id text, body text)
      language plpgsql rows 100 set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off as $$
      begin
        return query
        with free as (
          select d.place from unnest(webhook_ids, counts) as share(webhook_id, most)
          cross join lateral (
            select one.ctid as place from deliveries one
            where one.webhook_id = share.webhook_id and one.status = 'pending' and one.due_at <= clock_timestamp()
              and (one.leased_until is null or one.leased_until <= clock_timestamp())
            order by one.due_at limit share.most for update skip locked
          ) d
        ), taken as (
          update deliveries set claims = claims + 1, leased_until = clock_timestamp() + lease,
            updated_at = clock_timestamp()
          where deliveries.ctid = any(array(select free.place from free))
          returning deliveries.id, deliveries.webhook_id, deliveries.claims, deliveries.event_id
        )
        select t.id, t.webhook_id, t.claims, e.event, e.request_id, event_body(e.event, e.created_at, e.data)
        from taken t join events e on e.id = t.event_id;
      end $$;
    `)
  }
}
