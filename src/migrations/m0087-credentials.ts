import { Migration } from '@mikro-orm/migrations'

/** What card data is given for once: credentials and checkout sessions; and network tokens with their limits. */
export class Credentials extends Migration {
  override up(): void {
    this.addSql(`
      create table credentials (
        owner_id text not null,
        mode text not null check (mode in ('test', 'live')),
        id text collate "C" not null,
        created_at timestamptz(3) not null,
        updated_at timestamptz(3) not null,
        agent_id text collate "C" not null,
        delegation_id text collate "C",
        intent_id text collate "C" not null,
        card_id text collate "C" not null,
        status text not null check (status in ('issued', 'redeemed', 'revoked', 'expired')),
        expires_at timestamptz(3) not null,
        redeemed_at timestamptz(3),
        revoked_at timestamptz(3),
        access_event_id text collate "C",
        key_thumbprint text,
        primary key (owner_id, mode, id),
        check ((status = 'redeemed') = (redeemed_at is not null)),
        check ((status = 'revoked') = (revoked_at is not null)),
        check (num_nulls(redeemed_at, access_event_id, key_thumbprint) in (0, 3)),
        foreign key (owner_id, mode, agent_id) references agents (owner_id, mode, id) deferrable initially deferred,
        foreign key (owner_id, mode, intent_id) references intents (owner_id, mode, id) deferrable initially deferred,
        foreign key (owner_id, mode, card_id) references cards (owner_id, mode, id) deferrable initially deferred,
        foreign key (owner_id, mode, access_event_id)
          references access_events (owner_id, mode, id) deferrable initially deferred
      );
      create index credentials_by_agent on credentials (owner_id, mode, agent_id, id);
      create index credentials_by_status on credentials (owner_id, mode, status, id);
      create index credentials_of_intent on credentials (owner_id, mode, intent_id, id);
      create index credentials_due on credentials (mode, expires_at) where status = 'issued';

      create table checkout_sessions (
        owner_id text not null,
        mode text not null check (mode in ('test', 'live')),
        id text collate "C" not null,
        created_at timestamptz(3) not null,
        updated_at timestamptz(3) not null,
        agent_id text collate "C" not null,
        delegation_id text collate "C",
        intent_id text collate "C" not null,
        card_id text collate "C" not null,
        merchant_host text not null,
        status text not null check (status in ('open', 'redeemed', 'expired')),
        hash text not null,
        hint text not null,
        expires_at timestamptz(3) not null,
        redeemed_at timestamptz(3),
        access_event_id text collate "C",
        key_thumbprint text,
        primary key (owner_id, mode, id),
        unique (owner_id, mode, hash),
        check ((status = 'redeemed') = (redeemed_at is not null)),
        check (num_nulls(redeemed_at, access_event_id, key_thumbprint) in (0, 3)),
        foreign key (owner_id, mode, agent_id) references agents (owner_id, mode, id) deferrable initially deferred,
        foreign key (owner_id, mode, intent_id) references intents (owner_id, mode, id) deferrable initially deferred,
        foreign key (owner_id, mode, card_id) references cards (owner_id, mode, id) deferrable initially deferred,
        foreign key (owner_id, mode, access_event_id)
          references access_events (owner_id, mode, id) deferrable initially deferred
      );
      create index checkout_sessions_by_agent on checkout_sessions (owner_id, mode, agent_id, id);
      create index checkout_sessions_by_status on checkout_sessions (owner_id, mode, status, id);
      create index checkout_sessions_of_intent on checkout_sessions (owner_id, mode, intent_id, id);
      create index checkout_sessions_due on checkout_sessions (mode, expires_at) where status = 'open';

      create table agent_credentials (
        owner_id text not null,
        mode text not null check (mode in ('test', 'live')),
        id text collate "C" not null,
        created_at timestamptz(3) not null,
        updated_at timestamptz(3) not null,
        agent_id text collate "C" not null,
        delegation_id text collate "C",
        intent_id text collate "C",
        card_id text collate "C" not null,
        status text not null check (status in ('pending', 'active', 'suspended', 'revoked', 'expired', 'failed')),
        merchant_scope text[] not null check (cardinality(merchant_scope) between 1 and 100),
        amount_limit_cents bigint not null check (amount_limit_cents > 0),
        spent_cents bigint not null check (spent_cents >= 0),
        max_charges int check (max_charges > 0),
        charges int not null check (charges >= 0),
        expires_at timestamptz(3) not null,
        revoked_at timestamptz(3),
        processor text not null,
        token_id text collate "C",
        last4 text check (last4 ~ '^[0-9]{4}$'),
        processor_problem text,
        access_event_id text collate "C" not null,
        key_thumbprint text not null,
        primary key (owner_id, mode, id),
        check ((token_id is null) = (last4 is null)),
        check (status not in ('active', 'suspended') or token_id is not null),
        check ((status = 'revoked') = (revoked_at is not null)),
        foreign key (owner_id, mode, agent_id) references agents (owner_id, mode, id) deferrable initially deferred,
        foreign key (owner_id, mode, intent_id) references intents (owner_id, mode, id) deferrable initially deferred,
        foreign key (owner_id, mode, card_id) references cards (owner_id, mode, id) deferrable initially deferred,
        foreign key (owner_id, mode, access_event_id)
          references access_events (owner_id, mode, id) deferrable initially deferred
      );
      create unique index agent_credentials_by_token on agent_credentials (owner_id, mode, token_id)
        where token_id is not null;
      create index agent_credentials_by_agent on agent_credentials (owner_id, mode, agent_id, id);
      create index agent_credentials_of_card on agent_credentials (owner_id, mode, card_id, id);
      create index agent_credentials_by_status on agent_credentials (owner_id, mode, status, id);
      create index agent_credentials_due on agent_credentials (mode, expires_at)
        where status in ('pending', 'active', 'suspended');
    `)
  }
}
