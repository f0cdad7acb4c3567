import { Migration } from '@mikro-orm/migrations'

/** Less to do for each delivery, when there are thousands a second. */
export class LightDeliveries extends Migration {
  override up(): void {
    this.addSql(`
      -- Of no use: a delivery is found by its id, or by the webhook that it goes to. Each mark paid for it.
      alter table deliveries drop constraint deliveries_owner_id_mode_id_key;

      -- Deliveries are made in one place, of an event and a webhook that are there, and neither of these is ever deleted.
      -- To prove it for each of them by itself took as long as to make it, and locked the webhook for everybody else.
      alter table deliveries drop constraint deliveries_event_id_fkey, drop constraint deliveries_webhook_id_fkey;

      -- Of these attempts (by their deliveries' ids) those that were taken by receivers with which all is well, and for
      -- which nobody waits in Temporal: their deliveries move from one status to the other. Gives which; the others need
      -- a closer look. That the old status is a parameter keeps PostgreSQL from reading all that are open, and a
      -- subquery from beginning with the webhooks: each is found by its id.
      create function mark_delivered(taken jsonb, old_status text, new_status text) returns setof text
      language plpgsql rows 100 set enable_seqscan = off set plan_cache_mode = force_generic_plan as $$
      begin
        return query
        update deliveries d set status = new_status, due_at = null, leased_until = null, updated_at = clock_timestamp(),
          attempts = d.attempts || (taken -> d.id)
        where d.id = any(array(select jsonb_object_keys(taken))) and d.status = old_status and d.workflow_id is null
          and jsonb_array_length(d.attempts) < 10
          and (select w.failures from webhooks w where w.id = d.webhook_id) = 0
        returning d.id;
      end $$;
    `)
  }
}
