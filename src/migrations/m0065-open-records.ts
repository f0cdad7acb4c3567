import { Migration } from '@mikro-orm/migrations'

/** The records that need a run are read in pages, again and again: each kind from an index that has no others. */
export class OpenRecords extends Migration {
  override up(): void {
    this.addSql(`
      create index intents_with_a_run on intents (id)
        where status in ('created', 'approved') and workflow_id is not null;
      create index policies_with_a_run on policies (agent_id)
        where agent_id is not null and deleted_at is null and expired_at is null and expires_at is not null;
      create index transfers_with_a_run on transfers (id) where due_at is not null and workflow_id is not null;
      create index deliveries_with_a_run on deliveries (id) where status = 'pending' and workflow_id is not null;
    `)
  }
}
