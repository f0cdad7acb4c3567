import { Migration } from '@mikro-orm/migrations'

/** What those who watch the service ask of deliveries: never more than some thousand rows, however many there are. */
export class DeliveryFigures extends Migration {
  override up(): void {
    this.addSql(`
      create index deliveries_dead on deliveries (id) where status = 'dead';
      create index webhooks_paused on webhooks (paused_until) where paused_until is not null;

      -- Since when the longest waiting delivery could have been made, in seconds; null where none waits. Those that
      -- somebody is making, or that their receiver's failures hold up, do not count. Of a thousand subscriptions.
      create function overdue_seconds() returns float8
      language plpgsql set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off as $$
      begin
        return (
          with recursive waiting as (
            (select d.webhook_id, d.due_at, d.leased_until, 1 as nth from deliveries d where d.status = 'pending'
              order by d.webhook_id, d.due_at limit 1)
            union all
            select next.webhook_id, next.due_at, next.leased_until, waiting.nth + 1
            from waiting cross join lateral (
              select d.webhook_id, d.due_at, d.leased_until from deliveries d
              where d.status = 'pending' and d.webhook_id > waiting.webhook_id
              order by d.webhook_id, d.due_at limit 1
            ) next where waiting.nth < 1000
          )
          select extract(epoch from clock_timestamp() - min(greatest(waiting.due_at, waiting.leased_until, w.paused_until)))
          from waiting join webhooks w on w.id = waiting.webhook_id
          where w.status = 'active' and w.deleted_at is null
            and greatest(waiting.due_at, waiting.leased_until, w.paused_until) <= clock_timestamp());
      end $$;

      -- So many at most of each.
      create function delivery_counts(most integer) returns table (pending bigint, dead bigint)
      language plpgsql set enable_seqscan = off set enable_bitmapscan = off as $$
      begin
        return query select
          (select count(*) from (select from deliveries where status = 'pending' limit most) found),
          (select count(*) from (select from deliveries where status = 'dead' limit most) found);
      end $$;
      create function paused_webhooks(most integer) returns bigint
      language plpgsql set enable_seqscan = off set enable_bitmapscan = off as $$
      begin
        return (select count(*) from (select from webhooks
          where paused_until > clock_timestamp() and status = 'active' and deleted_at is null limit most) found);
      end $$;
    `)
  }
}
