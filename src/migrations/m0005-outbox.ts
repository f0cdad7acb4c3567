import { Migration } from '@mikro-orm/migrations'

/** Work for Temporal, written with the change that asks for it. */
export class Outbox extends Migration {
  override up(): void {
    this.addSql(`
      create table outbox (
        id text collate "C" primary key,
        owner_id text not null,
        mode text not null check (mode in ('test', 'live')),
        process text not null,
        recurs boolean not null,
        workflow_id text not null,
        input jsonb not null,
        attempts integer not null default 0,
        created_at timestamptz(3) not null,
        due_at timestamptz(3) not null
      );
      create index outbox_by_due on outbox (due_at);
      create index outbox_by_tenant on outbox (owner_id, mode, workflow_id);
    `)
  }
}
