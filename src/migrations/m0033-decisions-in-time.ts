import { Migration } from '@mikro-orm/migrations'

/** Decisions are replayed agent by agent, in the order of time. */
export class DecisionsInTime extends Migration {
  override up(): void {
    this.addSql(`
      drop index decisions_by_agent;
      create index decisions_in_time on decisions (owner_id, mode, agent_id, created_at, id);
    `)
  }
}
