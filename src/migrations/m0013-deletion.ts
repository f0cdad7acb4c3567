import { Migration } from '@mikro-orm/migrations'

/** Agents that are on their way out, and what is still open for them. */
export class Deletion extends Migration {
  override up(): void {
    this.addSql(`
      alter table agents add column deletion_due_at timestamptz(3);
      update agents set deletion_due_at = updated_at where status in ('deleting', 'deleted');
      alter table agents add check ((status = 'active' or status = 'frozen') = (deletion_due_at is null));
      create index agents_being_deleted on agents (mode, deletion_due_at) where status = 'deleting';
      create index intents_open_by_agent on intents (owner_id, mode, agent_id, id)
        where status in ('created', 'approved');
    `)
  }
}
