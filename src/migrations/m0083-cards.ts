import { Migration } from '@mikro-orm/migrations'

/** Cards, their numbers without the numbers, the terms that spends go by, and the purse: a wallet that one card pays from. */
export class Cards extends Migration {
  override up(): void {
    this.addSql(`
      create table card_terms (
        owner_id text not null,
        mode text not null check (mode in ('test', 'live')),
        id text collate "C" not null,
        created_at timestamptz(3) not null,
        updated_at timestamptz(3) not null,
        agent_id text collate "C" not null,
        status text not null check (status in ('pending', 'inactive', 'active', 'frozen', 'closed')),
        intent_id text collate "C",
        max_transaction_cents bigint check (max_transaction_cents >= 0),
        daily_limit_cents bigint check (daily_limit_cents >= 0),
        monthly_limit_cents bigint check (monthly_limit_cents >= 0),
        merchant_allowlist text[] not null,
        merchant_blocklist text[] not null,
        allowed_countries text[] not null,
        allowed_mccs text[] not null,
        blocked_mccs text[] not null,
        mcc_categories text[] not null,
        version int not null check (version > 0),
        primary key (owner_id, mode, id),
        foreign key (owner_id, mode, agent_id) references agents (owner_id, mode, id) deferrable initially deferred,
        foreign key (owner_id, mode, intent_id) references intents (owner_id, mode, id) deferrable initially deferred
      );

      create table cards (
        owner_id text not null,
        mode text not null check (mode in ('test', 'live')),
        id text collate "C" not null,
        created_at timestamptz(3) not null,
        updated_at timestamptz(3) not null,
        agent_id text collate "C" not null,
        status text not null check (status in ('pending', 'inactive', 'active', 'frozen', 'closed')),
        usage text not null check (usage in ('single', 'multi')),
        display_name text not null,
        intent_id text collate "C",
        activates boolean not null,
        frozen_reason text,
        closed_reason text,
        closed_at timestamptz(3),
        wallet_id text collate "C",
        processor text not null,
        number_id text collate "C",
        brand text,
        last4 text check (last4 ~ '^[0-9]{4}$'),
        exp_month int check (exp_month between 1 and 12),
        exp_year int check (exp_year between 2000 and 2999),
        processor_problem text,
        due_at timestamptz(3),
        workflow_id text,
        metadata jsonb not null,
        primary key (owner_id, mode, id),
        check ((status = 'closed') = (closed_at is not null)),
        check (status not in ('inactive', 'active', 'frozen') or number_id is not null),
        check (num_nulls(number_id, brand, last4, exp_month, exp_year) in (0, 5)),
        foreign key (owner_id, mode, id) references card_terms (owner_id, mode, id) deferrable initially deferred,
        foreign key (owner_id, mode, agent_id) references agents (owner_id, mode, id) deferrable initially deferred,
        foreign key (owner_id, mode, intent_id) references intents (owner_id, mode, id) deferrable initially deferred,
        foreign key (owner_id, mode, wallet_id) references wallets (owner_id, mode, id) deferrable initially deferred
      );
      create index cards_by_agent on cards (owner_id, mode, agent_id, id);
      create index cards_by_status on cards (owner_id, mode, status, id);
      create unique index cards_of_intent on cards (owner_id, mode, intent_id)
        where intent_id is not null and status <> 'closed';
      create index cards_open on cards (id) where status <> 'closed';
      create index cards_due on cards (mode, due_at) where due_at is not null;

      create table card_numbers (
        owner_id text not null,
        mode text not null check (mode in ('test', 'live')),
        id text collate "C" not null,
        created_at timestamptz(3) not null,
        updated_at timestamptz(3) not null,
        agent_id text collate "C" not null,
        card_id text collate "C" not null,
        status text not null check (status in ('current', 'retiring', 'replaced')),
        processor text not null,
        processor_card_id text collate "C" not null,
        brand text not null,
        last4 text not null check (last4 ~ '^[0-9]{4}$'),
        exp_month int not null check (exp_month between 1 and 12),
        exp_year int not null check (exp_year between 2000 and 2999),
        retires_at timestamptz(3),
        ends_at timestamptz(3) not null,
        processor_state text not null check (processor_state in ('inactive', 'active', 'closed')),
        primary key (owner_id, mode, id),
        check ((status = 'retiring') <= (retires_at is not null)),
        foreign key (owner_id, mode, card_id) references cards (owner_id, mode, id) deferrable initially deferred
      );
      -- Messages of a processor name no owner: the number that they name tells whose they are.
      create unique index card_numbers_by_processor on card_numbers (processor_card_id, processor);
      create index card_numbers_of_card on card_numbers (owner_id, mode, card_id, id);
      alter table cards add foreign key (owner_id, mode, number_id)
        references card_numbers (owner_id, mode, id) deferrable initially deferred;

      alter table wallets drop constraint wallets_kind_check,
        add column card_id text collate "C",
        add constraint wallets_kind check (kind in ('owner', 'agent', 'card')),
        add check ((kind = 'card') = (card_id is not null)),
        add check (kind <> 'card' or iban is null),
        add foreign key (owner_id, mode, card_id) references cards (owner_id, mode, id) deferrable initially deferred;
      create unique index wallets_of_card on wallets (owner_id, mode, card_id) where card_id is not null;

      alter table intents add column merchant_key text collate "C",
        add foreign key (owner_id, mode, card_id) references card_terms (owner_id, mode, id) deferrable initially deferred;
      create index intents_payable on intents (owner_id, mode, agent_id, merchant_key, amount_cents)
        where status = 'approved' and payment_id is null;

      -- A payment that came to nothing leaves its intent free to be paid by another one.
      drop index transactions_of_intent;
      create unique index transactions_of_intent on transactions (owner_id, mode, intent_id)
        where intent_id is not null and status <> 'declined';
    `)
  }
}
