import { Migration } from '@mikro-orm/migrations'

/** The keys with which the installation signs evidence and receipts: one is current, and old ones keep their public half. */
export class SigningKeys extends Migration {
  override up(): void {
    this.addSql(`
      create table signing_keys (
        owner_id text not null check (owner_id = 'customer_house'),
        mode text not null check (mode = 'live'),
        id text collate "C" not null,
        created_at timestamptz(3) not null,
        updated_at timestamptz(3) not null,
        kid text collate "C" not null unique check (kid ~ '^[A-Za-z0-9_-]{43}$'),
        x text not null check (x ~ '^[A-Za-z0-9_-]{43}$'),
        private_key text,
        retired_at timestamptz(3),
        primary key (owner_id, mode, id),
        -- What a retired key has signed is checked with its public half: nothing needs the private one again.
        check ((retired_at is null) = (private_key is not null))
      );
      create unique index signing_keys_current on signing_keys (owner_id, mode) where retired_at is null;
    `)
  }
}
