import { Migration } from '@mikro-orm/migrations'

/** Calls by the tools of assistants that name no idempotency key; and keys that may change things by tools. */
export class ToolCalls extends Migration {
  override up(): void {
    this.addSql(`
      alter table keys add column tool_writes boolean not null default false;

      create table tool_calls (
        owner_id text not null references customers deferrable initially deferred,
        mode text not null check (mode in ('test', 'live')),
        caller_id text collate "C" not null,
        -- Of the operation and its members.
        hash text collate "C" not null check (hash ~ '^[A-Za-z0-9_-]{43}$'),
        key text not null,
        last_called_at timestamptz(3) not null,
        primary key (owner_id, mode, caller_id, hash)
      );
      -- Old ones are deleted.
      create index tool_calls_by_end on tool_calls (last_called_at);
    `)
  }
}
