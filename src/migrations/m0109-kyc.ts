import { Migration } from '@mikro-orm/migrations'

/** What people send to show who they are, and the documents that prove it. */
export class Kyc extends Migration {
  override up(): void {
    this.addSql(`
      create table kyc_submissions (
        owner_id text not null,
        mode text not null check (mode in ('test', 'live')),
        id text collate "C" not null,
        created_at timestamptz(3) not null,
        updated_at timestamptz(3) not null,
        representative_id text collate "C",
        status text not null check (status in ('pending', 'in_review', 'verified', 'rejected')),
        provider text not null,
        name text not null check (char_length(name) between 1 and 200),
        date_of_birth date not null check (date_of_birth >= '1900-01-01'),
        nationality text not null check (char_length(nationality) = 2),
        address jsonb not null,
        calls int not null check (calls >= 0),
        rejection jsonb,
        decided_by text check (decided_by in ('provider', 'operator')),
        decided_at timestamptz(3),
        contradicted_at timestamptz(3),
        due_at timestamptz(3),
        workflow_id text not null,
        primary key (owner_id, mode, id),
        check ((status = 'rejected') = (rejection is not null)),
        check ((status in ('verified', 'rejected')) = (decided_at is not null)),
        check ((decided_at is null) = (decided_by is null)),
        check (status in ('pending', 'in_review') or due_at is null),
        check (status <> 'pending' or due_at is not null),
        check (contradicted_at is null or decided_by = 'provider'),
        foreign key (owner_id) references customers (id) deferrable initially deferred,
        foreign key (owner_id, mode, representative_id)
          references onboarding_representatives (owner_id, mode, id) deferrable initially deferred
      );
      -- One at a time for a person: two would be decided differently.
      create unique index kyc_submissions_open on kyc_submissions (owner_id, mode, coalesce(representative_id, ''))
        where status in ('pending', 'in_review');
      create index kyc_submissions_by_status on kyc_submissions (owner_id, mode, status, id);
      create index kyc_submissions_by_representative on kyc_submissions (owner_id, mode, representative_id, id);
      -- The operator sees those of all owners; the provider names one by its id alone.
      create unique index kyc_submissions_by_id on kyc_submissions (id);
      create index kyc_submissions_of_all_by_status on kyc_submissions (status, id);
      create index kyc_submissions_due on kyc_submissions (mode, due_at) where status in ('pending', 'in_review');
      create index kyc_submissions_with_a_run on kyc_submissions (id) where status in ('pending', 'in_review');

      create table kyc_documents (
        owner_id text not null,
        mode text not null check (mode in ('test', 'live')),
        id text collate "C" not null,
        created_at timestamptz(3) not null,
        updated_at timestamptz(3) not null,
        submission_id text collate "C",
        kind text not null check (kind in
          ('passport', 'identity_card_front', 'identity_card_back', 'proof_of_address', 'register_extract')),
        type text not null check (type in ('application/pdf', 'image/jpeg', 'image/png')),
        bytes int not null check (bytes > 0),
        sha256 text collate "C" not null check (sha256 ~ '^[0-9a-f]{64}$'),
        erase_at timestamptz(3),
        erased_at timestamptz(3),
        primary key (owner_id, mode, id),
        -- What no submission names always has an end.
        check (submission_id is not null or erase_at is not null or erased_at is not null),
        check (erased_at is null or erase_at is null),
        foreign key (owner_id) references customers (id) deferrable initially deferred,
        foreign key (owner_id, mode, submission_id)
          references kyc_submissions (owner_id, mode, id) deferrable initially deferred
      );
      create index kyc_documents_of_submission on kyc_documents (owner_id, mode, submission_id, id)
        where submission_id is not null;
      create index kyc_documents_unused on kyc_documents (owner_id, mode)
        where submission_id is null and erased_at is null;
      -- The operator names one by its id alone.
      create unique index kyc_documents_by_id on kyc_documents (id);
      create index kyc_documents_due on kyc_documents (mode, erase_at) where erase_at is not null;
    `)
  }
}
