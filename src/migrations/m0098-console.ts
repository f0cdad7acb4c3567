import { Migration } from '@mikro-orm/migrations'

/** The sessions of people in the console; and confirming a payee has a scope of its own, which is an approver's too. */
export class Console extends Migration {
  override up(): void {
    this.addSql(`
      update keys set scopes = array_append(scopes, 'transfers:confirm-payee')
      where 'transfers:create' = any(scopes) and not 'transfers:confirm-payee' = any(scopes);

      create table console_sessions (
        owner_id text not null references customers deferrable initially deferred,
        mode text not null check (mode in ('test', 'live')),
        id text collate "C" not null,
        created_at timestamptz(3) not null,
        updated_at timestamptz(3) not null,
        person_id text collate "C" not null,
        -- The passkey that began it; null where a link did.
        passkey_id text collate "C",
        hash text not null,
        hint text not null,
        expires_at timestamptz(3) not null,
        last_used_at timestamptz(3) not null,
        revoked_at timestamptz(3),
        revoked_because text check (revoked_because in ('signed_out', 'ended', 'replaced', 'person', 'passkey')),
        address text,
        user_agent text check (length(user_agent) <= 300),
        primary key (owner_id, mode, id),
        check (expires_at <= created_at + interval '12 hours'),
        check ((revoked_at is null) = (revoked_because is null))
      );
      create unique index console_sessions_by_hash on console_sessions (hash);
      create index console_sessions_by_person on console_sessions (owner_id, mode, person_id, id);
      create index console_sessions_by_passkey on console_sessions (owner_id, mode, passkey_id)
        where passkey_id is not null and revoked_at is null;
      -- Old ones are deleted.
      create index console_sessions_by_end on console_sessions (expires_at);
    `)
  }
}
