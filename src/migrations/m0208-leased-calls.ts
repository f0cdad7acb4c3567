import { Migration } from '@mikro-orm/migrations'

/** A call that a killed process left is decided once the lease of that process has run out. */
export class LeasedCalls extends Migration {
  override up(): void {
    this.addSql(`
      alter table process_leases drop constraint process_leases_kind_check,
        add constraint process_leases_kind_check
          check (kind in ('deliveries', 'pushes', 'outbox', 'streams', 'calls'));

      -- The lease of the process that makes the call, null where there is none under way or an earlier version makes it.
      alter table idempotency_keys add column leased_by text collate "C";
    `)
  }
}
