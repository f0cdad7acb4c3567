import { Migration } from '@mikro-orm/migrations'

/** Each index of intents at its price: what most of them do not have is not kept for them. */
export class IntentIndexes extends Migration {
  override up(): void {
    this.addSql(`
      alter table intents drop constraint intents_owner_id_mode_agent_id_client_intent_id_key;
      create unique index intents_by_name on intents (owner_id, mode, client_intent_id, agent_id)
        where client_intent_id is not null;
      drop index intents_by_time;
      create index intents_by_time on intents (owner_id, mode, created_at);
      create index intents_by_merchant on intents (owner_id, mode, merchant, id);
    `)
  }
}
