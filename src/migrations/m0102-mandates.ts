import { Migration } from '@mikro-orm/migrations'

/** Mandates: what a person has allowed an agent in advance, signed by a passkey. */
export class Mandates extends Migration {
  override up(): void {
    this.addSql(`
      create table mandates (
        owner_id text not null,
        mode text not null check (mode in ('test', 'live')),
        id text collate "C" not null,
        created_at timestamptz(3) not null,
        updated_at timestamptz(3) not null,
        agent_id text collate "C" not null,
        name text check (name <> ''),
        per_transaction_cents bigint check (per_transaction_cents > 0),
        per_day_cents bigint check (per_day_cents > 0),
        per_month_cents bigint check (per_month_cents > 0),
        total_cents bigint check (total_cents > 0),
        count int check (count > 0),
        merchants text[] not null,
        mccs text[] not null,
        countries text[] not null,
        expires_at timestamptz(3) not null check (expires_at > created_at),
        status text not null check (status in ('active', 'suspended', 'revoked', 'expired', 'exhausted')),
        suspended_because text
          check (suspended_because in ('requested', 'agent_frozen', 'agent_deleted', 'signer_removed')),
        comment text,
        ended_at timestamptz(3),
        -- The person and the passkey that have signed it, and both signatures over it as anybody can check them.
        person_id text collate "C" not null,
        passkey_id text collate "C" not null,
        jws text not null,
        workflow_id text not null,
        primary key (owner_id, mode, id),
        check (num_nonnulls(per_transaction_cents, per_day_cents, per_month_cents, total_cents) > 0),
        check ((status = 'suspended') = (suspended_because is not null)),
        check ((status in ('revoked', 'expired', 'exhausted')) = (ended_at is not null)),
        foreign key (owner_id, mode, agent_id) references agents (owner_id, mode, id) deferrable initially deferred,
        foreign key (owner_id, mode, person_id) references people (owner_id, mode, id) deferrable initially deferred,
        foreign key (owner_id, mode, passkey_id) references passkeys (owner_id, mode, id) deferrable initially deferred
      );
      create index mandates_by_agent on mandates (owner_id, mode, agent_id, id);
      create index mandates_by_status on mandates (owner_id, mode, status, id);
      -- Each batch of intents asks for those of its agents, which mostly have none.
      create index mandates_active on mandates (owner_id, mode, agent_id, id) where status = 'active';
      create index mandates_by_person on mandates (owner_id, mode, person_id, id) where status in ('active', 'suspended');
      create index mandates_due on mandates (mode, expires_at) where status in ('active', 'suspended');
      create index mandates_with_a_run on mandates (id) where status in ('active', 'suspended');
    `)
  }
}
