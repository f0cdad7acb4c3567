import { Migration } from '@mikro-orm/migrations'

/** The keys that card data is encrypted to, and a record of every ask for it, which nobody can change. */
export class Reveal extends Migration {
  override up(): void {
    this.addSql(`
      create table filler_keys (
        owner_id text not null,
        mode text not null check (mode in ('test', 'live')),
        id text collate "C" not null,
        created_at timestamptz(3) not null,
        updated_at timestamptz(3) not null,
        label text not null,
        thumbprint text collate "C" not null check (thumbprint ~ '^[A-Za-z0-9_-]{43}$'),
        alg text not null check (alg in ('RSA-OAEP-256', 'ECDH-ES+A256KW')),
        public_key_jwk jsonb not null check (not public_key_jwk ?| array['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k']),
        primary key (owner_id, mode, id),
        unique (owner_id, mode, thumbprint)
      );

      create table access_events (
        owner_id text not null,
        mode text not null check (mode in ('test', 'live')),
        id text collate "C" not null,
        created_at timestamptz(3) not null,
        updated_at timestamptz(3) not null,
        agent_id text collate "C",
        delegation_id text collate "C",
        actor_type text not null,
        actor_id text,
        card_id text collate "C",
        intent_id text collate "C",
        purpose text,
        way text not null check (way in ('access', 'session', 'credential', 'agent_credential')),
        source_id text collate "C",
        decision text not null check (decision in ('granted', 'denied')),
        reasons jsonb not null check (jsonb_typeof(reasons) = 'array'),
        merchant_host text,
        key_thumbprint text,
        address text,
        request_id text not null,
        primary key (owner_id, mode, id),
        check ((decision = 'granted') = (jsonb_array_length(reasons) = 0)),
        check (decision = 'denied' or card_id is not null),
        foreign key (owner_id, mode, agent_id) references agents (owner_id, mode, id) deferrable initially deferred,
        foreign key (owner_id, mode, card_id) references cards (owner_id, mode, id) deferrable initially deferred,
        foreign key (owner_id, mode, intent_id) references intents (owner_id, mode, id) deferrable initially deferred
      );
      create index access_events_of_card on access_events (owner_id, mode, card_id, id);
      create index access_events_of_agent on access_events (owner_id, mode, agent_id, id);
      create index access_events_of_delegation on access_events (owner_id, mode, delegation_id, id)
        where delegation_id is not null;
      create index access_events_of_intent on access_events (owner_id, mode, intent_id, id) where intent_id is not null;
      create index access_events_denied on access_events (owner_id, mode, id) where decision = 'denied';
      create trigger access_events_append_only before update or delete on access_events
        for each row execute function refuse_change();
      create trigger access_events_no_truncate before truncate on access_events execute function refuse_change();

      -- Whether what was granted was also given is known only after the processor has answered.
      create table access_outcomes (
        owner_id text not null,
        mode text not null check (mode in ('test', 'live')),
        id text collate "C" not null,
        created_at timestamptz(3) not null,
        updated_at timestamptz(3) not null,
        outcome text not null check (outcome in ('disclosed', 'failed')),
        code text,
        message text,
        primary key (owner_id, mode, id),
        check ((outcome = 'failed') = (code is not null)),
        check ((outcome = 'failed') = (message is not null)),
        foreign key (owner_id, mode, id) references access_events (owner_id, mode, id) deferrable initially deferred
      );
      create trigger access_outcomes_append_only before update or delete on access_outcomes
        for each row execute function refuse_change();
      create trigger access_outcomes_no_truncate before truncate on access_outcomes execute function refuse_change();

      revoke update, delete on access_events, access_outcomes from agentpay_application;
    `)
  }
}
