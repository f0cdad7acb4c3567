import { Migration } from '@mikro-orm/migrations'

/** What companies say of themselves before they may move real money, and the people whom they name. */
export class Onboardings extends Migration {
  override up(): void {
    this.addSql(`
      create table onboardings (
        owner_id text not null,
        mode text not null check (mode in ('test', 'live')),
        id text collate "C" not null,
        created_at timestamptz(3) not null,
        updated_at timestamptz(3) not null,
        status text not null check (status in
          ('submitted', 'in_review', 'needs_information', 'approved', 'rejected', 'withdrawn', 'expired')),
        legal_name text not null check (char_length(legal_name) between 1 and 200),
        legal_form text not null check (char_length(legal_form) between 1 and 100),
        register_number text not null check (char_length(register_number) between 1 and 50),
        address jsonb not null,
        website text check (website like 'https://%' and char_length(website) <= 2048),
        intended_use text not null check (char_length(intended_use) between 1 and 1000),
        expected_monthly_volume_cents bigint not null check (expected_monthly_volume_cents > 0),
        -- Each time that the operator has asked, with the questions and the answer.
        information_requests jsonb not null check (jsonb_typeof(information_requests) = 'array'),
        reason text check (char_length(reason) between 1 and 1000),
        ended_at timestamptz(3),
        due_at timestamptz(3),
        workflow_id text not null,
        primary key (owner_id, mode, id),
        check ((status in ('approved', 'rejected', 'withdrawn', 'expired')) = (ended_at is not null)),
        check ((status = 'rejected') = (reason is not null)),
        check ((status = 'needs_information') <= (due_at is not null)),
        check (status in ('submitted', 'needs_information') or due_at is null),
        foreign key (owner_id) references customers (id) deferrable initially deferred
      );
      -- One at a time: two would be decided differently.
      create unique index onboardings_open on onboardings (owner_id, mode)
        where status in ('submitted', 'in_review', 'needs_information');
      create index onboardings_by_status on onboardings (owner_id, mode, status, id);
      -- The operator sees those of all owners, and names one by its id alone.
      create unique index onboardings_by_id on onboardings (id);
      create index onboardings_of_all_by_status on onboardings (status, id);
      create index onboardings_due on onboardings (mode, due_at)
        where status in ('submitted', 'in_review', 'needs_information');
      create index onboardings_with_a_run on onboardings (id)
        where status in ('submitted', 'in_review', 'needs_information');

      create table onboarding_representatives (
        owner_id text not null,
        mode text not null check (mode in ('test', 'live')),
        id text collate "C" not null,
        created_at timestamptz(3) not null,
        updated_at timestamptz(3) not null,
        onboarding_id text collate "C" not null,
        ordinal int not null check (ordinal >= 0),
        name text not null check (char_length(name) between 1 and 200),
        date_of_birth date not null check (date_of_birth >= '1900-01-01'),
        country text not null check (char_length(country) = 2),
        position text check (char_length(position) between 1 and 200),
        status text not null check (status in ('none', 'pending', 'in_review', 'verified', 'rejected')),
        -- The row stays, as what was sent about the person belongs to it.
        removed_at timestamptz(3),
        primary key (owner_id, mode, id),
        foreign key (owner_id, mode, onboarding_id) references onboardings (owner_id, mode, id)
          deferrable initially deferred
      );
      create index onboarding_representatives_in_order
        on onboarding_representatives (owner_id, mode, onboarding_id, ordinal);

      create table onboarding_beneficial_owners (
        owner_id text not null,
        mode text not null check (mode in ('test', 'live')),
        id text collate "C" not null,
        created_at timestamptz(3) not null,
        updated_at timestamptz(3) not null,
        onboarding_id text collate "C" not null,
        ordinal int not null check (ordinal >= 0),
        name text not null check (char_length(name) between 1 and 200),
        date_of_birth date not null check (date_of_birth >= '1900-01-01'),
        country text not null check (char_length(country) = 2),
        share_percent double precision not null check (share_percent between 0 and 100),
        primary key (owner_id, mode, id),
        foreign key (owner_id, mode, onboarding_id) references onboardings (owner_id, mode, id)
          deferrable initially deferred
      );
      create index onboarding_beneficial_owners_in_order
        on onboarding_beneficial_owners (owner_id, mode, onboarding_id, ordinal);
    `)
  }
}
