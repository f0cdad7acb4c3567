import { Migration } from '@mikro-orm/migrations'

/** How deliveries are found and taken, when very many wait. */
export class DeliveryLeases extends Migration {
  override up(): void {
    this.addSql(`
      -- Somebody has taken it; from this instant on others may. In no index: to take one costs none a change.
      alter table deliveries drop column leased, add column leased_until timestamptz(3),
        add constraint deliveries_lease check (leased_until is null or status = 'pending');
      alter table deliveries set (fillfactor = 80);

      -- By the primary keys alone: of tables that have just been filled PostgreSQL would choose a wrong index.
      alter table deliveries
        drop constraint deliveries_owner_id_mode_event_id_fkey,
        drop constraint deliveries_owner_id_mode_webhook_id_fkey,
        add foreign key (event_id) references events (id) deferrable initially deferred,
        add foreign key (webhook_id) references webhooks (id) deferrable initially deferred;

      drop function publish_events(jsonb);

      -- A delivery of each event for everybody who wants to hear of it, in the transaction of the event; gives how many.
      -- A ping is for the one that it names, and for nobody else.
      create function publish_events(written jsonb, owners text[]) returns integer
      language plpgsql set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
      declare
        made integer;
      begin
        -- For the many of whom nobody wants to hear it costs one look.
        if not exists (select from webhooks w
          where w.owner_id = any(owners) and w.status = 'active' and w.deleted_at is null) then
          return 0;
        end if;
        insert into deliveries (id, owner_id, mode, created_at, updated_at, webhook_id, event_id, event, status, due_at,
          claims, tries, attempts)
        select 'delivery_' || substr(e.id, 7, 10) || substr(replace(gen_random_uuid()::text, '-', ''), 1, 16),
          w.owner_id, w.mode, clock_timestamp(), clock_timestamp(), w.id, e.id, e.event, 'pending', clock_timestamp(),
          0, 0, '[]'
        from jsonb_to_recordset(written) as e(id text, "ownerId" text, mode text, event text, data jsonb)
        join webhooks w on w.owner_id = e."ownerId" and w.mode = e.mode and w.status = 'active' and w.deleted_at is null
        where case e.event when 'webhook.ping' then e.data ->> 'webhookId' = w.id
          else w.events && array['*', e.event] end;
        get diagnostics made = row_count;
        return made;
      end $$;

      -- The subscriptions for which something is due, the longest first. From one to the next by the index, whatever
      -- PostgreSQL believes of the table: a receiver for which very much waits costs one step.
      create function due_webhooks(most integer) returns table (id text, owner_id text, failing boolean)
      language plpgsql rows 20 set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off as $$
      begin
        return query
        with recursive waiting as (
          (select d.webhook_id, d.due_at from deliveries d where d.status = 'pending'
            order by d.webhook_id, d.due_at limit 1)
          union all
          select next.* from waiting cross join lateral (
            select d.webhook_id, d.due_at from deliveries d
            where d.status = 'pending' and d.webhook_id > waiting.webhook_id
            order by d.webhook_id, d.due_at limit 1
          ) next
        )
        select w.id, w.owner_id, w.failures > 0 from waiting join webhooks w on w.id = waiting.webhook_id
        where w.status = 'active' and w.deleted_at is null and waiting.due_at <= clock_timestamp()
          and (w.paused_until is null or w.paused_until <= clock_timestamp())
        order by waiting.due_at limit most;
      end $$;

      -- Of each subscription so many that nobody has, the oldest first, for a while.
      create function take_deliveries(webhook_ids text[], counts integer[], lease interval) returns setof deliveries
      language plpgsql rows 20 set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off as $$
      begin
        return query
        with free as (
          select d.id from unnest(webhook_ids, counts) as share(webhook_id, most)
          cross join lateral (
            select one.id from deliveries one
            where one.webhook_id = share.webhook_id and one.status = 'pending' and one.due_at <= clock_timestamp()
              and (one.leased_until is null or one.leased_until <= clock_timestamp())
            order by one.due_at limit share.most for update skip locked
          ) d
        )
        update deliveries set claims = claims + 1, leased_until = clock_timestamp() + lease,
          updated_at = clock_timestamp()
        where deliveries.id = any(array(select free.id from free))
        returning deliveries.*;
      end $$;
    `)
  }
}
