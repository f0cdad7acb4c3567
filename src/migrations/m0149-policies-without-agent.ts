import { Migration } from '@mikro-orm/migrations'

/** Whoever chooses a policy for an agent lists those that are no agent’s own. */
export class PoliciesWithoutAgent extends Migration {
  override up(): void {
    this.addSql(`
      -- The few policies that are no agent's own. Without it whoever lists them reads those of all agents.
      create index policies_without_agent on policies (owner_id, mode, id) where agent_id is null;
    `)
  }
}
