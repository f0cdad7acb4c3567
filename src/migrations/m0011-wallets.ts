import { Migration } from '@mikro-orm/migrations'

/** Wallets: what an owner sees of the ledger's accounts. */
export class Wallets extends Migration {
  override up(): void {
    this.addSql(`
      create sequence wallet_numbers;
      grant usage on sequence wallet_numbers to agentpay_application;

      create table wallets (
        id text collate "C" primary key,
        owner_id text not null,
        mode text not null check (mode in ('test', 'live')),
        created_at timestamptz(3) not null,
        updated_at timestamptz(3) not null,
        name text not null,
        kind text not null check (kind in ('owner', 'agent')),
        parent_wallet_id text,
        agent_id text,
        iban text unique,
        bic text,
        currency text not null check (currency = 'EUR'),
        status text not null check (status in ('active', 'frozen', 'closed')),
        metadata jsonb not null,
        unique (owner_id, mode, id),
        check ((kind = 'agent') = (agent_id is not null)),
        check ((iban is null) = (bic is null)),
        check (id <> parent_wallet_id),
        foreign key (owner_id, mode, parent_wallet_id) references wallets (owner_id, mode, id) deferrable initially deferred,
        foreign key (owner_id, mode, agent_id) references agents (owner_id, mode, id) deferrable initially deferred
      );
      create unique index wallets_by_agent on wallets (owner_id, mode, agent_id) where agent_id is not null;
      create index wallets_by_parent on wallets (owner_id, mode, parent_wallet_id, id) where parent_wallet_id is not null;
      create index wallets_by_kind on wallets (owner_id, mode, kind, id);
      alter table ledger_accounts add check ((kind = 'wallet') = (wallet_id is not null)),
        add foreign key (owner_id, mode, wallet_id) references wallets (owner_id, mode, id) deferrable initially deferred;
      alter table agents
        add foreign key (owner_id, mode, wallet_id) references wallets (owner_id, mode, id) deferrable initially deferred;
    `)
  }
}
