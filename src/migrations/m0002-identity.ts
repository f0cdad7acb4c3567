import { Migration } from '@mikro-orm/migrations'

/** The owners of accounts and their keys. */
export class Identity extends Migration {
  override up(): void {
    this.addSql(`
      create table customers (
        id text collate "C" primary key,
        created_at timestamptz(3) not null,
        updated_at timestamptz(3) not null,
        name text not null,
        email text not null,
        type text not null check (type in ('individual', 'business')),
        country text not null check (country ~ '^[A-Z]{2}$'),
        plan text not null check (plan in ('free', 'starter', 'business', 'enterprise')),
        status text not null check (status in ('active', 'suspended')),
        kyc_status text not null check (kyc_status in ('none', 'pending', 'in_review', 'verified', 'rejected'))
      );
      create index customers_by_email on customers (email, id);

      create table keys (
        id text collate "C" primary key,
        owner_id text not null references customers deferrable initially deferred,
        mode text not null check (mode in ('test', 'live')),
        created_at timestamptz(3) not null,
        updated_at timestamptz(3) not null,
        name text not null,
        environment text not null check (environment in ('sandbox', 'test', 'live')),
        hash text not null unique,
        hint text not null,
        scopes text[],
        expires_at timestamptz(3),
        last_used_at timestamptz(3),
        revoked_at timestamptz(3),
        check ((environment = 'live') = (mode = 'live')),
        unique (owner_id, mode, id)
      );
    `)
  }
}
