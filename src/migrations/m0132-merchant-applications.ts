import { Migration } from '@mikro-orm/migrations'

/** Merchants that ask to be let in, and the keys of those that were. */
export class MerchantApplications extends Migration {
  override up(): void {
    this.addSql(`
      create table merchant_applications (
        owner_id text not null check (owner_id = 'customer_house'),
        mode text not null check (mode = 'live'),
        id text collate "C" not null,
        created_at timestamptz(3) not null,
        updated_at timestamptz(3) not null,
        status text not null check (status in ('submitted', 'approved', 'rejected', 'revoked')),
        name text not null check (char_length(name) between 1 and 200),
        legal_name text not null check (char_length(legal_name) between 1 and 200),
        country text not null check (char_length(country) = 2),
        website text not null check (char_length(website) <= 500),
        mcc text check (mcc ~ '^[0-9]{4}$'),
        contact_name text not null check (char_length(contact_name) between 1 and 200),
        contact_email text not null check (char_length(contact_email) <= 254),
        reason text check (char_length(reason) between 1 and 1000),
        decided_at timestamptz(3),
        revoked_at timestamptz(3),
        public_key_jwk jsonb,
        primary key (owner_id, mode, id),
        check ((status = 'submitted') = (decided_at is null)),
        check ((status = 'revoked') = (revoked_at is not null)),
        check ((status in ('rejected', 'revoked')) = (reason is not null)),
        foreign key (owner_id) references customers (id) deferrable initially deferred
      );
      create index merchant_applications_by_status on merchant_applications (owner_id, mode, status, id);

      create table merchant_keys (
        owner_id text not null check (owner_id = 'customer_house'),
        mode text not null check (mode = 'live'),
        id text collate "C" not null,
        created_at timestamptz(3) not null,
        updated_at timestamptz(3) not null,
        merchant_id text collate "C" not null,
        hash text not null unique,
        hint text not null check (char_length(hint) = 4),
        expires_at timestamptz(3),
        last_used_at timestamptz(3),
        revoked_at timestamptz(3),
        primary key (owner_id, mode, id),
        foreign key (owner_id, mode, merchant_id)
          references merchant_applications (owner_id, mode, id) deferrable initially deferred
      );
      create index merchant_keys_of_merchant on merchant_keys (owner_id, mode, merchant_id, id) where revoked_at is null;
    `)
  }
}
