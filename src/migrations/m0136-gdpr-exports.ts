import { Migration } from '@mikro-orm/migrations'

/** Requests of people for what is held about them. The archive itself is made anew at each download. */
export class GdprExports extends Migration {
  override up(): void {
    this.addSql(`
      create table gdpr_exports (
        owner_id text not null,
        mode text not null check (mode in ('test', 'live')),
        id text collate "C" not null,
        created_at timestamptz(3) not null,
        updated_at timestamptz(3) not null,
        status text not null check (status in ('requested', 'ready', 'expired')),
        subject_type text not null check (subject_type in ('owner', 'person', 'beneficiary', 'payer')),
        subject_id text collate "C" not null,
        records bigint check (records >= 0),
        answer_by timestamptz(3) not null,
        ready_at timestamptz(3),
        expires_at timestamptz(3),
        due_at timestamptz(3),
        workflow_id text not null,
        primary key (owner_id, mode, id),
        check ((status = 'requested') = (ready_at is null)),
        check ((ready_at is null) = (expires_at is null) and (ready_at is null) = (records is null)),
        check ((status = 'expired') = (due_at is null)),
        foreign key (owner_id) references customers (id) deferrable initially deferred
      );
      create index gdpr_exports_by_status on gdpr_exports (owner_id, mode, status, id);
      create index gdpr_exports_due on gdpr_exports (mode, due_at) where status <> 'expired';
      create index gdpr_exports_with_a_run on gdpr_exports (id) where status <> 'expired';
    `)
  }
}
