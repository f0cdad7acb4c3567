import { Migration } from '@mikro-orm/migrations'

/** Whom an owner pays by SEPA. A deleted one stays: transfers name it. */
export class Beneficiaries extends Migration {
  override up(): void {
    this.addSql(`
      create table beneficiaries (
        id text collate "C" primary key,
        owner_id text not null,
        mode text not null check (mode in ('test', 'live')),
        created_at timestamptz(3) not null,
        updated_at timestamptz(3) not null,
        name text not null check (length(name) between 1 and 140),
        sepa_name text not null check (sepa_name ~ '^[A-Za-z0-9/?:().,''+ -]{1,70}$' and sepa_name ~ '[A-Za-z0-9]'),
        iban text not null check (iban ~ '^[A-Z]{2}[0-9]{2}[A-Z0-9]{11,30}$'),
        bic text check (bic ~ '^[A-Z0-9]{4}[A-Z]{2}[A-Z0-9]{2}([A-Z0-9]{3})?$'),
        country text not null check (country ~ '^[A-Z]{2}$'),
        email text,
        verification jsonb
          check (verification ->> 'result' in ('match', 'close_match', 'no_match', 'not_possible')),
        duplicate_of text check (duplicate_of <> id),
        deleted_at timestamptz(3),
        unique (owner_id, mode, id),
        check (verification is null or (verification ? 'result' and verification ? 'at')),
        foreign key (owner_id, mode, duplicate_of) references beneficiaries (owner_id, mode, id)
          deferrable initially deferred
      );
      create unique index beneficiaries_one_original on beneficiaries (owner_id, mode, iban)
        where duplicate_of is null and deleted_at is null;
      create index beneficiaries_by_iban on beneficiaries (owner_id, mode, iban, id) where deleted_at is null;
      create index beneficiaries_by_country on beneficiaries (owner_id, mode, country, id) where deleted_at is null;
      create index beneficiaries_by_verification
        on beneficiaries (owner_id, mode, (verification ->> 'result'), id) where deleted_at is null;
      create index beneficiaries_by_original on beneficiaries (owner_id, mode, duplicate_of)
        where duplicate_of is not null;
    `)
  }
}
