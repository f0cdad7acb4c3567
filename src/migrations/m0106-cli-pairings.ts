import { Migration } from '@mikro-orm/migrations'

/** Terminals that ask for a key, by PKCE; and a kind of statement for the passkey that approves one. */
export class CliPairings extends Migration {
  override up(): void {
    this.addSql(`
      alter table passkey_challenges drop constraint passkey_challenges_kind_check;
      alter table passkey_challenges add constraint passkey_challenges_kind_check check (kind in
        ('intent', 'payment', 'mandate', 'revocation', 'enrolment', 'invitation', 'key', 'device', 'pairing',
         'registration', 'sign_in'));

      create table cli_pairings (
        -- The platform's until somebody decides, from then on that person's tenant.
        owner_id text not null references customers deferrable initially deferred,
        mode text not null check (mode in ('test', 'live')),
        id text collate "C" not null,
        created_at timestamptz(3) not null,
        updated_at timestamptz(3) not null,
        status text not null check (status in ('pending', 'approved', 'denied', 'paired', 'void')),
        hash text not null,
        code_challenge text not null check (code_challenge ~ '^[A-Za-z0-9_-]{43}$'),
        pairing_code text not null check (pairing_code ~ '^[B-Z]{4}-[B-Z]{4}$'),
        device_name text not null check (char_length(device_name) between 1 and 100),
        address text,
        expires_at timestamptz(3) not null check (expires_at <= created_at + interval '6 minutes'),
        person_id text collate "C",
        session_id text collate "C",
        decided_at timestamptz(3),
        -- Null: every scope, future ones included.
        scopes text[],
        key_id text collate "C",
        primary key (owner_id, mode, id),
        check ((person_id is null) = (decided_at is null) and (person_id is null) = (session_id is null)),
        check (status <> 'pending' or person_id is null),
        check (status not in ('approved', 'denied', 'paired') or person_id is not null),
        check ((status = 'paired') = (key_id is not null)),
        foreign key (owner_id, mode, person_id) references people (owner_id, mode, id) deferrable initially deferred,
        foreign key (owner_id, mode, key_id) references keys (owner_id, mode, id) deferrable initially deferred
      );
      create unique index cli_pairings_by_hash on cli_pairings (hash);
      -- Old ones are deleted.
      create index cli_pairings_by_end on cli_pairings (expires_at);
    `)
  }
}
