import { Migration } from '@mikro-orm/migrations'

/** Money that an owner moves. */
export class Transfers extends Migration {
  override up(): void {
    this.addSql(`
      create table transfers (
        id text collate "C" primary key,
        owner_id text not null,
        mode text not null check (mode in ('test', 'live')),
        created_at timestamptz(3) not null,
        updated_at timestamptz(3) not null,
        from_wallet_id text not null,
        to_wallet_id text,
        kind text not null check (kind in ('internal', 'split')),
        amount_cents bigint not null check (amount_cents > 0),
        parts jsonb,
        reference text,
        status text not null check (status in ('created', 'completed')),
        completed_at timestamptz(3),
        unique (owner_id, mode, id),
        check ((kind = 'internal') = (to_wallet_id is not null)),
        check ((kind = 'split') = (parts is not null)),
        check (from_wallet_id <> to_wallet_id),
        check ((status = 'completed') = (completed_at is not null))
      );
      create index transfers_by_payer on transfers (owner_id, mode, from_wallet_id, id);
      create index transfers_by_payee on transfers (owner_id, mode, to_wallet_id, id) where to_wallet_id is not null;
    `)
  }
}
