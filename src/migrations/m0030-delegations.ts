import { Migration } from '@mikro-orm/migrations'

/** Budgets that are handed on, and the tokens that are redeemed for them. */
export class Delegations extends Migration {
  override up(): void {
    this.addSql(`
      create table delegations (
        id text collate "C" primary key,
        owner_id text not null,
        mode text not null check (mode in ('test', 'live')),
        created_at timestamptz(3) not null,
        updated_at timestamptz(3) not null,
        agent_id text not null,
        parent_delegation_id text,
        ancestors text[] not null check (cardinality(ancestors) <= 8),
        label text,
        merchant text,
        max_amount_cents bigint not null check (max_amount_cents > 0),
        scopes text[] not null,
        status text not null check (status in ('issued', 'redeemed', 'revoked', 'expired')),
        code_hash text not null unique,
        hint text not null,
        code_expires_at timestamptz(3) not null,
        expires_at timestamptz(3) not null,
        redeemed_at timestamptz(3),
        token_id text,
        revoked_at timestamptz(3),
        unique (owner_id, mode, id),
        unique (owner_id, mode, agent_id, id),
        check (code_expires_at <= expires_at),
        check ((redeemed_at is null) = (token_id is null)),
        check ((status = 'revoked') = (revoked_at is not null)),
        check ((parent_delegation_id is null) = (cardinality(ancestors) = 0)),
        check (parent_delegation_id is not distinct from ancestors[cardinality(ancestors)]),
        foreign key (owner_id, mode, agent_id) references agents (owner_id, mode, id) deferrable initially deferred,
        foreign key (owner_id, mode, agent_id, parent_delegation_id)
          references delegations (owner_id, mode, agent_id, id) deferrable initially deferred
      );
      create index delegations_by_status on delegations (owner_id, mode, status, id);
      create index delegations_by_parent on delegations (owner_id, mode, parent_delegation_id, id)
        where parent_delegation_id is not null;
      create index delegations_by_end on delegations (mode, expires_at) where status in ('issued', 'redeemed');

      alter table agent_tokens
        add column max_amount_cents bigint check (max_amount_cents > 0),
        add column delegation_id text,
        add unique (owner_id, mode, id),
        add foreign key (owner_id, mode, agent_id, delegation_id)
          references delegations (owner_id, mode, agent_id, id) deferrable initially deferred;
      create unique index agent_tokens_of_delegation on agent_tokens (owner_id, mode, delegation_id)
        where delegation_id is not null;
      alter table delegations add foreign key (owner_id, mode, token_id)
        references agent_tokens (owner_id, mode, id) deferrable initially deferred;

      alter table runs
        add column delegation_id text,
        add foreign key (owner_id, mode, agent_id, delegation_id)
          references delegations (owner_id, mode, agent_id, id) deferrable initially deferred;
      alter table intents
        add column token_id text,
        add foreign key (owner_id, mode, agent_id, delegation_id)
          references delegations (owner_id, mode, agent_id, id) deferrable initially deferred,
        add foreign key (owner_id, mode, token_id)
          references agent_tokens (owner_id, mode, id) deferrable initially deferred;
      create index intents_open_by_delegation on intents (owner_id, mode, delegation_id, id)
        where delegation_id is not null and status in ('created', 'approved');
    `)
  }
}
