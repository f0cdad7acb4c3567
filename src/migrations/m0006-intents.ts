import { Migration } from '@mikro-orm/migrations'

/** What agents mean to spend, and when their policies end. */
export class Intents extends Migration {
  override up(): void {
    this.addSql(`
      create table intents (
        id text collate "C" primary key,
        owner_id text not null,
        mode text not null check (mode in ('test', 'live')),
        created_at timestamptz(3) not null,
        updated_at timestamptz(3) not null,
        agent_id text not null,
        status text not null
          check (status in ('created', 'approved', 'denied', 'cancelled', 'expired', 'completed')),
        amount_cents bigint not null check (amount_cents > 0),
        currency text not null check (currency = 'EUR'),
        merchant text not null,
        mcc text,
        country text,
        purpose text not null,
        beneficiary_id text,
        wallet_id text,
        card_id text,
        run_id text,
        delegation_id text,
        client_intent_id text,
        possible_duplicate_of text,
        expires_at timestamptz(3) not null,
        decided_at timestamptz(3),
        decided_by jsonb,
        comment text,
        decision jsonb not null,
        transaction_id text,
        workflow_id text,
        metadata jsonb not null,
        unique (owner_id, mode, id),
        check ((decided_at is null) = (decided_by is null)),
        check (status not in ('approved', 'denied', 'completed') or decided_at is not null),
        foreign key (owner_id, mode, agent_id) references agents (owner_id, mode, id) deferrable initially deferred
      );
      create index intents_by_agent on intents (owner_id, mode, agent_id, id);
      create index intents_by_status on intents (owner_id, mode, status, id);
      create index intents_by_time on intents (owner_id, mode, created_at);
      create index intents_by_merchant on intents (owner_id, mode, merchant, id);
      create unique index intents_by_name on intents (owner_id, mode, client_intent_id, agent_id)
        where client_intent_id is not null;
      alter table policies add column expires_at timestamptz(3), add column expired_at timestamptz(3);
      create index policies_by_end on policies (mode, expires_at)
        where agent_id is not null and deleted_at is null and expired_at is null;
      create index intents_open_by_deadline on intents (mode, expires_at) where status in ('created', 'approved');
    `)
  }
}
