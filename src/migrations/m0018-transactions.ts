import { Migration } from '@mikro-orm/migrations'

/** Money that has left, or was refused to leave: one record, whatever paid. */
export class Transactions extends Migration {
  override up(): void {
    this.addSql(`
      create table transactions (
        id text collate "C" primary key,
        owner_id text not null,
        mode text not null check (mode in ('test', 'live')),
        created_at timestamptz(3) not null,
        updated_at timestamptz(3) not null,
        agent_id text,
        intent_id text,
        card_id text,
        transfer_id text,
        wallet_id text not null,
        run_id text,
        type text not null check (type in ('card', 'mpp', 'transfer', 'collect', 'refund', 'fee')),
        status text not null
          check (status in ('authorization', 'settlement', 'settled', 'completed', 'declined', 'refunded')),
        currency text not null check (currency = 'EUR'),
        amount_cents bigint not null check (amount_cents > 0),
        refunded_cents bigint not null check (refunded_cents between 0 and amount_cents),
        merchant text not null,
        mcc text,
        country text,
        memo text,
        decline_reason text,
        witnesses jsonb not null,
        unique (owner_id, mode, id),
        check ((status = 'declined') = (decline_reason is not null)),
        check ((status = 'refunded') = (refunded_cents = amount_cents)),
        foreign key (owner_id, mode, wallet_id) references wallets (owner_id, mode, id) deferrable initially deferred,
        foreign key (owner_id, mode, agent_id) references agents (owner_id, mode, id) deferrable initially deferred,
        foreign key (owner_id, mode, intent_id) references intents (owner_id, mode, id) deferrable initially deferred,
        foreign key (owner_id, mode, transfer_id) references transfers (owner_id, mode, id) deferrable initially deferred
      );
      alter table transfers
        add foreign key (owner_id, mode, transaction_id) references transactions (owner_id, mode, id) deferrable initially deferred;
      create unique index transactions_of_transfer on transactions (owner_id, mode, transfer_id) where transfer_id is not null;
      create unique index transactions_of_intent on transactions (owner_id, mode, intent_id) where intent_id is not null;
      create index transactions_by_agent on transactions (owner_id, mode, agent_id, id) where agent_id is not null;
      create index transactions_by_wallet on transactions (owner_id, mode, wallet_id, id);
      create index transactions_by_status on transactions (owner_id, mode, status, id);
      create index transactions_by_merchant on transactions (owner_id, mode, merchant, id);
      create index transactions_by_time on transactions (owner_id, mode, created_at);
    `)
  }
}
