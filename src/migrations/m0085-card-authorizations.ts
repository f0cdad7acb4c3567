import { Migration } from '@mikro-orm/migrations'

/** Payments by card, and the messages of the processor that tell of them. */
export class CardAuthorizations extends Migration {
  override up(): void {
    this.addSql(`
      create table card_authorizations (
        owner_id text not null,
        mode text not null check (mode in ('test', 'live')),
        id text collate "C" not null,
        created_at timestamptz(3) not null,
        updated_at timestamptz(3) not null,
        agent_id text collate "C" not null,
        card_id text collate "C",
        processor_ref text collate "C",
        status text not null
          check (status in ('declined', 'authorized', 'confirmed', 'cleared', 'reversed', 'expired', 'refunded')),
        source text not null check (source in ('intent', 'purse', 'wallet')),
        wallet_id text collate "C" not null,
        intent_id text collate "C",
        network_token_id text collate "C",
        amount_cents bigint not null check (amount_cents >= 0),
        approved_cents bigint not null check (approved_cents >= 0),
        held_cents bigint not null check (held_cents >= 0),
        captured_cents bigint not null check (captured_cents >= 0),
        cleared_cents bigint not null check (cleared_cents >= 0),
        refunded_cents bigint not null check (refunded_cents >= 0),
        merchant text not null,
        merchant_key text collate "C" not null,
        descriptor text not null,
        mcc text,
        country text,
        facts jsonb not null,
        decision jsonb,
        decline_reason text,
        expires_at timestamptz(3),
        transaction_id text collate "C",
        primary key (owner_id, mode, id),
        constraint card_authorizations_once unique (owner_id, mode, processor_ref),
        check ((source = 'intent') <= (intent_id is not null)),
        check (processor_ref is not null or intent_id is not null),
        check (processor_ref is null or card_id is not null),
        check (held_cents = 0 or expires_at is not null),
        foreign key (owner_id, mode, card_id) references card_terms (owner_id, mode, id) deferrable initially deferred,
        foreign key (owner_id, mode, agent_id) references agents (owner_id, mode, id) deferrable initially deferred,
        foreign key (owner_id, mode, intent_id) references intents (owner_id, mode, id) deferrable initially deferred,
        foreign key (owner_id, mode, transaction_id) references transactions (owner_id, mode, id)
          deferrable initially deferred
      );
      create index card_authorizations_of_card on card_authorizations (owner_id, mode, card_id, id);
      create index card_authorizations_of_intent on card_authorizations (owner_id, mode, intent_id)
        where intent_id is not null;
      -- A checkout that was confirmed before the network has said anything: its payment is found by the merchant.
      create index card_authorizations_awaited on card_authorizations (owner_id, mode, agent_id, merchant_key, id)
        where processor_ref is null and status = 'confirmed';
      create index card_authorizations_due on card_authorizations (mode, expires_at) where expires_at is not null;

      create table card_messages (
        owner_id text not null,
        mode text not null check (mode in ('test', 'live')),
        id text collate "C" not null,
        created_at timestamptz(3) not null,
        updated_at timestamptz(3) not null,
        agent_id text not null,
        card_id text not null,
        authorization_id text collate "C",
        kind text not null,
        digest text not null,
        answer_status int not null,
        answer_headers jsonb not null,
        answer_body text not null,
        primary key (owner_id, mode, id)
      );

      alter table intents add column hold_cents bigint;
      drop index intents_payable;
      create index intents_payable on intents (owner_id, mode, agent_id, merchant_key, hold_cents, expires_at)
        where status = 'approved' and payment_id is null;

      alter table transactions
        add foreign key (owner_id, mode, card_id) references card_terms (owner_id, mode, id) deferrable initially deferred;
    `)
  }
}
