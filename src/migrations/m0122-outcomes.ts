import { Migration } from '@mikro-orm/migrations'

/** What has come of payments, as agents and owners report it. */
export class Outcomes extends Migration {
  override up(): void {
    this.addSql(`
      create table outcomes (
        owner_id text not null,
        mode text not null check (mode in ('test', 'live')),
        id text collate "C" not null,
        created_at timestamptz(3) not null,
        updated_at timestamptz(3) not null,
        agent_id text collate "C" not null,
        delegation_id text collate "C",
        intent_id text collate "C" not null,
        run_id text collate "C",
        -- As payments are grouped, and when the intent was declared: both never change.
        merchant text collate "C" not null,
        mcc text,
        declared_at timestamptz(3) not null,
        success boolean not null,
        value_cents bigint check (value_cents >= 0),
        note text,
        metadata jsonb not null,
        primary key (owner_id, mode, id),
        foreign key (owner_id, mode, agent_id) references agents (owner_id, mode, id) deferrable initially deferred,
        foreign key (owner_id, mode, intent_id) references intents (owner_id, mode, id) deferrable initially deferred
      );
      create unique index outcomes_one_per_intent on outcomes (owner_id, mode, intent_id);
      create index outcomes_by_agent on outcomes (owner_id, mode, agent_id, id);
      create index outcomes_by_run on outcomes (owner_id, mode, run_id, id) where run_id is not null;
      create index outcomes_by_declaration on outcomes (owner_id, mode, declared_at);
    `)
  }
}
