import { Migration } from '@mikro-orm/migrations'

/** Transfers know the delegation under which they are paid, and are found by agent, by intent, and while they wait. */
export class TransfersInView extends Migration {
  override up(): void {
    this.addSql(`
      alter table transfers add column delegation_id text;
      update transfers t set delegation_id = i.delegation_id from intents i
      where i.id = t.intent_id and i.delegation_id is not null;
      create index transfers_by_agent on transfers (owner_id, mode, agent_id, id) where agent_id is not null;
      create index transfers_by_intent on transfers (owner_id, mode, intent_id, id) where intent_id is not null;
      create index transfers_not_left on transfers (owner_id, mode, id) where kind = 'sepa' and status in ('created', 'verifying');
      create index transactions_by_run on transactions (owner_id, mode, run_id, id) where run_id is not null;
    `)
  }
}
