import { Migration } from '@mikro-orm/migrations'

/** The credentials of machine payments, and the rules by which owners say whom machine payments may go to. */
export class MachinePayments extends Migration {
  override up(): void {
    this.addSql(`
      create table mpp_credentials (
        owner_id text not null,
        mode text not null check (mode in ('test', 'live')),
        id text collate "C" not null,
        created_at timestamptz(3) not null,
        updated_at timestamptz(3) not null,
        agent_id text collate "C" not null,
        delegation_id text collate "C",
        intent_id text collate "C" not null,
        card_id text collate "C" not null,
        agent_credential_id text collate "C" not null,
        status text not null check (status in ('minted', 'sent', 'indeterminate', 'consumed', 'void')),
        sent_by text not null check (sent_by in ('service', 'caller')),
        merchant text not null,
        merchant_name text,
        url text not null,
        method text not null check (method in ('GET', 'POST', 'PUT', 'PATCH', 'DELETE')),
        amount_cents bigint not null check (amount_cents > 0),
        network text not null,
        challenge_id text not null,
        challenge jsonb not null,
        request_digest text not null,
        credential_digest text not null,
        merchant_status int check (merchant_status between 100 and 999),
        receipt text,
        note text,
        outcome_by text check (outcome_by in ('merchant', 'network', 'key', 'operator', 'deadline')),
        declined_at timestamptz(3),
        asked_at timestamptz(3) not null,
        sent_at timestamptz(3),
        answered_at timestamptz(3),
        ended_at timestamptz(3),
        due_at timestamptz(3),
        transaction_id text collate "C",
        workflow_id text,
        primary key (owner_id, mode, id),
        -- What the service sends is sent with its minting; what a caller sends, the service never does.
        check ((sent_by = 'service') = (sent_at is not null)),
        check (status <> 'minted' or sent_by = 'caller'),
        check (status not in ('sent', 'indeterminate') or sent_by = 'service'),
        check ((status in ('consumed', 'void')) = (ended_at is not null and outcome_by is not null)),
        check (status <> 'consumed' or transaction_id is not null),
        check (status not in ('minted', 'sent', 'indeterminate') or due_at is not null),
        check (receipt is null or merchant_status between 200 and 299),
        foreign key (owner_id, mode, agent_id) references agents (owner_id, mode, id) deferrable initially deferred,
        foreign key (owner_id, mode, agent_id, delegation_id)
          references delegations (owner_id, mode, agent_id, id) deferrable initially deferred,
        foreign key (owner_id, mode, intent_id) references intents (owner_id, mode, id) deferrable initially deferred,
        foreign key (owner_id, mode, card_id) references cards (owner_id, mode, id) deferrable initially deferred,
        foreign key (owner_id, mode, agent_credential_id)
          references agent_credentials (owner_id, mode, id) deferrable initially deferred,
        foreign key (owner_id, mode, transaction_id)
          references transactions (owner_id, mode, id) deferrable initially deferred
      );
      create unique index mpp_credentials_by_digest on mpp_credentials (owner_id, mode, credential_digest);
      create index mpp_credentials_by_agent on mpp_credentials (owner_id, mode, agent_id, id);
      create index mpp_credentials_by_status on mpp_credentials (owner_id, mode, status, id);
      create index mpp_credentials_of_intent on mpp_credentials (owner_id, mode, intent_id, id);
      create index mpp_credentials_of_card on mpp_credentials (owner_id, mode, card_id, id);
      create index mpp_credentials_by_delegation on mpp_credentials (owner_id, mode, delegation_id, id)
        where delegation_id is not null;
      create index mpp_credentials_with_a_run on mpp_credentials (id)
        where workflow_id is not null and due_at is not null;
      create index mpp_credentials_due on mpp_credentials (mode, due_at) where due_at is not null;

      create table mpp_protect_rules (
        owner_id text not null,
        mode text not null check (mode in ('test', 'live')),
        id text collate "C" not null,
        created_at timestamptz(3) not null,
        updated_at timestamptz(3) not null,
        type text not null check (type in ('allow', 'deny')),
        merchant text not null,
        pattern text not null check (pattern <> ''),
        agent_id text collate "C",
        reason text,
        primary key (owner_id, mode, id),
        unique nulls not distinct (owner_id, mode, type, pattern, agent_id),
        foreign key (owner_id, mode, agent_id) references agents (owner_id, mode, id) deferrable initially deferred
      );
      create index mpp_protect_rules_by_type on mpp_protect_rules (owner_id, mode, type, id);
      create index mpp_protect_rules_by_agent on mpp_protect_rules (owner_id, mode, agent_id, id)
        where agent_id is not null;
    `)
  }
}
