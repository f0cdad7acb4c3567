import { Migration } from '@mikro-orm/migrations'

/** Requests to be forgotten; a kind of statement for the passkey that agrees. */
export class GdprDeletions extends Migration {
  override up(): void {
    this.addSql(`
      alter table passkey_challenges drop constraint passkey_challenges_kind_check;
      alter table passkey_challenges add constraint passkey_challenges_kind_check check (kind in
        ('intent', 'payment', 'mandate', 'revocation', 'enrolment', 'invitation', 'key', 'deletion', 'device', 'pairing',
         'registration', 'sign_in'));

      create table gdpr_deletions (
        owner_id text not null,
        mode text not null check (mode in ('test', 'live')),
        id text collate "C" not null,
        created_at timestamptz(3) not null,
        updated_at timestamptz(3) not null,
        status text not null
          check (status in ('requested', 'waiting', 'ending', 'forgetting', 'completed', 'cancelled')),
        subject_type text not null check (subject_type in ('owner', 'person', 'beneficiary', 'payer')),
        subject_id text collate "C" not null,
        answer_by timestamptz(3) not null,
        -- Nothing is done before.
        begins_at timestamptz(3) not null,
        -- What must end first: kinds and ids of records.
        waits_for jsonb not null default '[]' check (jsonb_typeof(waits_for) = 'array'),
        -- How many records were changed.
        records bigint not null default 0 check (records >= 0),
        -- What the law keeps, by ground: how many records, and until when.
        kept jsonb not null default '[]' check (jsonb_typeof(kept) = 'array'),
        completed_at timestamptz(3),
        cancelled_at timestamptz(3),
        due_at timestamptz(3),
        workflow_id text not null,
        primary key (owner_id, mode, id),
        check ((status = 'completed') = (completed_at is not null)),
        check ((status = 'cancelled') = (cancelled_at is not null)),
        check (status in ('completed', 'cancelled') or due_at is not null),
        check (status <> 'cancelled' or due_at is null),
        check ((status = 'waiting') = (waits_for <> '[]')),
        foreign key (owner_id) references customers (id) deferrable initially deferred
      );
      create index gdpr_deletions_by_status on gdpr_deletions (owner_id, mode, status, id);
      create unique index gdpr_deletions_one_open on gdpr_deletions (owner_id, mode, subject_type, subject_id)
        where status not in ('completed', 'cancelled');
      create index gdpr_deletions_due on gdpr_deletions (mode, due_at) where due_at is not null;
      create index gdpr_deletions_with_a_run on gdpr_deletions (id) where status not in ('completed', 'cancelled');
      -- Its trigger: deletion_is_about.
      revoke delete on gdpr_deletions from agentpay_application;
    `)
  }
}
