import { Migration } from '@mikro-orm/migrations'

/** The passkeys of people, the challenges that they sign, and who may enrol one without another. */
export class Passkeys extends Migration {
  override up(): void {
    this.addSql(`
      create table passkeys (
        owner_id text not null,
        mode text not null check (mode in ('test', 'live')),
        id text collate "C" not null,
        created_at timestamptz(3) not null,
        updated_at timestamptz(3) not null,
        person_id text collate "C" not null,
        name text not null check (char_length(name) between 1 and 200),
        credential_id text collate "C" not null check (length(credential_id) between 1 and 1364),
        public_key text not null check (length(public_key) <= 1600),
        public_key_jwk jsonb not null,
        algorithm text not null check (algorithm in ('Ed25519', 'ES256', 'RS256')),
        counter bigint not null check (counter between 0 and 4294967295),
        backup_eligible boolean not null,
        backed_up boolean not null,
        backup_changed_at timestamptz(3),
        transports text[] not null,
        aaguid text not null,
        enrolled_by text not null check (enrolled_by in ('key', 'console')),
        last_used_at timestamptz(3),
        failures integer not null check (failures between 0 and 4),
        blocked_until timestamptz(3),
        revoked_at timestamptz(3),
        primary key (owner_id, mode, id),
        foreign key (owner_id, mode, person_id) references people (owner_id, mode, id) deferrable initially deferred
      );
      -- Whoever signs in shows the credential alone.
      create unique index passkeys_by_credential on passkeys (credential_id);
      create index passkeys_by_person on passkeys (owner_id, mode, person_id, id);
      create index passkeys_active on passkeys (owner_id, mode, id) where revoked_at is null;

      create table passkey_challenges (
        owner_id text not null,
        mode text not null check (mode in ('test', 'live')),
        id text collate "C" not null,
        created_at timestamptz(3) not null,
        updated_at timestamptz(3) not null,
        kind text not null check (kind in
          ('intent', 'payment', 'mandate', 'revocation', 'enrolment', 'invitation', 'key', 'registration', 'sign_in')),
        subject_id text collate "C",
        person_id text collate "C",
        statement jsonb not null,
        openings jsonb not null,
        -- The tenant's time: in test mode its owner may have moved it.
        made_at timestamptz(3) not null,
        expires_at timestamptz(3) not null check (expires_at <= created_at + interval '5 minutes'),
        used_at timestamptz(3),
        authority text check (authority in ('first', 'grant', 'passkey')),
        authority_id text collate "C",
        primary key (owner_id, mode, id),
        check ((kind = 'registration') = (authority is not null)),
        check ((authority in ('grant', 'passkey')) = (authority_id is not null))
      );
      create index passkey_challenges_by_end on passkey_challenges (expires_at);

      create table enrolment_grants (
        owner_id text not null,
        mode text not null check (mode in ('test', 'live')),
        id text collate "C" not null,
        created_at timestamptz(3) not null,
        updated_at timestamptz(3) not null,
        person_id text collate "C" not null,
        session_id text collate "C" not null,
        kind text not null check (kind in ('join', 'recovery')),
        expires_at timestamptz(3) not null,
        used_at timestamptz(3),
        primary key (owner_id, mode, id),
        foreign key (owner_id, mode, person_id) references people (owner_id, mode, id) deferrable initially deferred
      );
      create index enrolment_grants_by_session on enrolment_grants (owner_id, mode, session_id, id);
      create index enrolment_grants_by_person on enrolment_grants (owner_id, mode, person_id, id);
      create index enrolment_grants_by_end on enrolment_grants (expires_at);
    `)
  }
}
