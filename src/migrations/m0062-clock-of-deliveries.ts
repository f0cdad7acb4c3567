import { Migration } from '@mikro-orm/migrations'

/** A test clock that is moved forward moves what webhooks wait for, too. */
export class ClockOfDeliveries extends Migration {
  override up(): void {
    this.addSql(`
      -- By how many milliseconds its tenant's clock has been moved beyond the instant at which it is due: the waits for
      -- further attempts are shorter by that.
      alter table deliveries add column ahead_ms float8 not null default 0;

      -- The clock of this tenant has been moved so far. Instants of deliveries stay in real time: they come nearer.
      create function move_deliveries(of_owner text, of_mode text, by_ms float8) returns void language plpgsql as $$
      declare
        span interval := by_ms * interval '1 millisecond';
      begin
        -- Locked in the order in which outcomes are written.
        perform from deliveries d join webhooks w on w.id = d.webhook_id
        where w.owner_id = of_owner and w.mode = of_mode and d.status = 'pending' order by d.id for update of d;
        update deliveries d set
          due_at = least(d.due_at, greatest(d.due_at - span, clock_timestamp())),
          ahead_ms = d.ahead_ms + by_ms
            - extract(epoch from d.due_at - least(d.due_at, greatest(d.due_at - span, clock_timestamp()))) * 1000
        from webhooks w
        where w.id = d.webhook_id and w.owner_id = of_owner and w.mode = of_mode and d.status = 'pending';
        update webhooks set failing_since = failing_since - span, paused_until = paused_until - span
        where owner_id = of_owner and mode = of_mode and failures > 0;
        perform pg_notify('deliveries', '');
      end $$;
    `)
  }
}
