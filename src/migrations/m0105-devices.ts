import { Migration } from '@mikro-orm/migrations'

/** Keys that people give to their devices, the sessions in which they are asked for, and what keeps both from being guessed. */
export class Devices extends Migration {
  override up(): void {
    this.addSql(`
      alter table keys
        -- After so many days without a use it opens nothing any more.
        add column idle_days integer check (idle_days between 1 and 365),
        -- The thumbprint (RFC 7638) of the key that signs a proof of possession for each request (RFC 9449).
        add column bound_to text check (bound_to ~ '^[A-Za-z0-9_-]{43}$'),
        -- The device session or the pairing that it was made in, and the person who has agreed there.
        add column session_id text collate "C",
        add column person_id text collate "C",
        add check (session_id is null or person_id is not null),
        add foreign key (owner_id, mode, person_id) references people (owner_id, mode, id)
          deferrable initially deferred;
      create index keys_by_session on keys (owner_id, mode, session_id, id) where session_id is not null;
      create index keys_by_person on keys (owner_id, mode, person_id, id)
        where person_id is not null and revoked_at is null;

      create table sessions (
        -- Until somebody decides about it, the platform: a device does not say for which account it asks.
        owner_id text not null references customers (id) deferrable initially deferred,
        mode text not null check (mode in ('test', 'live')),
        id text collate "C" not null,
        created_at timestamptz(3) not null,
        updated_at timestamptz(3) not null,
        status text not null check (status in ('requested', 'approved', 'active', 'denied', 'revoked', 'expired')),
        -- Digests of the code by which the device asks, and of the one that the person types.
        hash text not null,
        user_hash text not null,
        device_id text collate "C" not null check (char_length(device_id) between 8 and 128),
        device_name text not null check (char_length(device_name) between 1 and 100),
        client_type text not null check (client_type in ('sdk', 'cli', 'mcp', 'api', 'browser', 'other')),
        -- Null: all that the person may give.
        scopes text[],
        bound_to text check (bound_to ~ '^[A-Za-z0-9_-]{43}$'),
        address text,
        -- The client behind the address: of those that wait, it has a few.
        client text not null,
        interval_seconds integer not null check (interval_seconds between 5 and 600),
        polled_at timestamptz(3),
        -- The account one of whose people has looked it up last.
        shown_to text collate "C",
        person_id text collate "C",
        key_id text collate "C",
        decided_at timestamptz(3),
        ended_at timestamptz(3),
        ends_at timestamptz(3) not null,
        -- When it is deleted, where nobody has decided about it.
        forget_at timestamptz(3),
        primary key (owner_id, mode, id),
        check ((status in ('denied', 'revoked', 'expired')) = (ended_at is not null)),
        check ((person_id is null) = (decided_at is null)),
        check (status in ('requested', 'expired') or person_id is not null),
        check (status <> 'requested' or (person_id is null and forget_at is not null)),
        check (status <> 'active' or (key_id is not null and scopes is not null)),
        foreign key (owner_id, mode, person_id) references people (owner_id, mode, id) deferrable initially deferred,
        foreign key (owner_id, mode, key_id) references keys (owner_id, mode, id) deferrable initially deferred
      );
      -- Whoever asks shows the code alone.
      create unique index sessions_by_hash on sessions (hash);
      create unique index sessions_by_user_code on sessions (owner_id, mode, user_hash) where status = 'requested';
      create index sessions_that_wait on sessions (owner_id, mode, client) where status = 'requested';
      create index sessions_by_status on sessions (owner_id, mode, status, id);
      create index sessions_by_person on sessions (owner_id, mode, person_id, id);
      create index sessions_due on sessions (mode, ends_at) where status in ('requested', 'approved', 'active');
      create index sessions_forgotten on sessions (forget_at) where forget_at is not null;

      -- Wrong codes of the last ten minutes, of a person or an address.
      create table wrong_guesses (
        guesser text collate "C" primary key,
        wrong_at timestamptz(3)[] not null,
        last_at timestamptz(3) not null
      );
      create index wrong_guesses_by_last on wrong_guesses (last_at);

      -- Proofs of possession that have been used: each counts once, in all processes.
      create table used_proofs (
        digest text collate "C" primary key,
        expires_at timestamptz(3) not null
      );
      create index used_proofs_by_end on used_proofs (expires_at);

      alter table passkey_challenges drop constraint passkey_challenges_kind_check;
      alter table passkey_challenges add constraint passkey_challenges_kind_check check (kind in
        ('intent', 'payment', 'mandate', 'revocation', 'enrolment', 'invitation', 'key', 'device', 'pairing',
          'registration', 'sign_in'));
    `)
  }
}
