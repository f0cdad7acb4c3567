import { Migration } from '@mikro-orm/migrations'

/** Money that comes back of a payment: what was asked for, and what has come by itself. */
export class Refunds extends Migration {
  override up(): void {
    this.addSql(`
      -- What of a payment is disputed, or was given back by a dispute: it cannot be refunded as well.
      alter table transactions add column disputed_cents bigint not null default 0 check (disputed_cents >= 0);

      create table refunds (
        owner_id text not null,
        mode text not null check (mode in ('test', 'live')),
        id text collate "C" not null,
        created_at timestamptz(3) not null,
        updated_at timestamptz(3) not null,
        -- Null where no payment is known of which it comes back.
        transaction_id text collate "C",
        agent_id text collate "C",
        -- Where the money is, once it has come to a wallet of the owner.
        wallet_id text collate "C",
        status text not null check (status in ('pending', 'completed', 'failed', 'cancelled')),
        origin text not null check (origin in ('asked', 'network', 'bank', 'payee')),
        way text not null check (way in ('wallet', 'card', 'sepa')),
        amount_cents bigint not null check (amount_cents > 0),
        arrived_cents bigint not null check (arrived_cents between 0 and amount_cents),
        reason text check (reason in ('duplicate', 'fraudulent', 'requested', 'not_delivered', 'other')),
        note text,
        failure jsonb check (failure ? 'code' and failure ? 'message'),
        source_type text,
        source_id text collate "C",
        attempts integer not null check (attempts >= 0),
        due_at timestamptz(3),
        completed_at timestamptz(3),
        workflow_id text,
        primary key (owner_id, mode, id),
        check (status <> 'completed' or arrived_cents = amount_cents),
        check ((completed_at is null) or status in ('completed', 'failed')),
        check (status <> 'completed' or completed_at is not null),
        check ((status = 'failed') = (failure is not null)),
        check (status = 'pending' or due_at is null),
        check ((source_type is null) = (source_id is null)),
        check (origin <> 'asked' or (transaction_id is not null and reason is not null)),
        check (origin = 'asked' or status in ('completed', 'failed')),
        foreign key (owner_id, mode, transaction_id) references transactions (owner_id, mode, id)
          deferrable initially deferred,
        foreign key (owner_id, mode, agent_id) references agents (owner_id, mode, id) deferrable initially deferred,
        foreign key (owner_id, mode, wallet_id) references wallets (owner_id, mode, id) deferrable initially deferred
      );
      create index refunds_of_transaction on refunds (owner_id, mode, transaction_id, id)
        where transaction_id is not null;
      create index refunds_awaited on refunds (owner_id, mode, transaction_id, id) where status = 'pending';
      create index refunds_by_status on refunds (owner_id, mode, status, id);
      create index refunds_by_agent on refunds (owner_id, mode, agent_id, id) where agent_id is not null;
      create index refunds_by_source on refunds (owner_id, mode, source_type, source_id, id)
        where source_id is not null;
      create index refunds_with_a_run on refunds (id) where (status = 'pending' and workflow_id is not null);
      create index refunds_due on refunds (mode, due_at) where due_at is not null and status = 'pending';
    `)
  }
}
