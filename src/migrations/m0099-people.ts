import { Migration } from '@mikro-orm/migrations'

/** The people of a tenant, the links by which they join and sign in, and their recoveries. */
export class People extends Migration {
  override up(): void {
    this.addSql(`
      create table people (
        owner_id text not null,
        mode text not null check (mode in ('test', 'live')),
        id text collate "C" not null,
        created_at timestamptz(3) not null,
        updated_at timestamptz(3) not null,
        name text not null check (char_length(name) between 1 and 200),
        email text check (char_length(email) <= 254),
        role text not null check (role in ('owner', 'approver', 'viewer')),
        status text not null check (status in ('invited', 'active', 'removed')),
        joined_at timestamptz(3),
        removed_at timestamptz(3),
        primary key (owner_id, mode, id),
        check ((status = 'removed') = (removed_at is not null)),
        check (status = 'removed' or (status = 'active') = (joined_at is not null)),
        check (status <> 'removed' or email is null),
        foreign key (owner_id) references customers (id) deferrable initially deferred
      );
      create unique index people_by_email on people (owner_id, mode, lower(email)) where email is not null;
      create index people_by_status on people (owner_id, mode, status, id);
      create index people_by_role on people (owner_id, mode, role, id);

      create table recoveries (
        owner_id text not null,
        mode text not null check (mode in ('test', 'live')),
        id text collate "C" not null,
        created_at timestamptz(3) not null,
        updated_at timestamptz(3) not null,
        person_id text collate "C" not null,
        status text not null check (status in ('waiting', 'ready', 'completed', 'stopped', 'expired')),
        ready_at timestamptz(3) not null,
        expires_at timestamptz(3) not null check (expires_at > ready_at),
        ended_at timestamptz(3),
        stopped_by jsonb,
        reason text,
        due_at timestamptz(3),
        workflow_id text not null,
        primary key (owner_id, mode, id),
        check ((status in ('waiting', 'ready')) = (ended_at is null)),
        check ((status in ('waiting', 'ready')) = (due_at is not null)),
        check ((status = 'stopped') = (stopped_by is not null)),
        foreign key (owner_id, mode, person_id) references people (owner_id, mode, id) deferrable initially deferred
      );
      -- One at a time for a person: a second one would not be seen by whoever stops the first.
      create unique index recoveries_open on recoveries (owner_id, mode, person_id) where status in ('waiting', 'ready');
      create index recoveries_by_person on recoveries (owner_id, mode, person_id, id);
      create index recoveries_with_a_run on recoveries (id) where status in ('waiting', 'ready');
      create index recoveries_due on recoveries (mode, due_at) where status in ('waiting', 'ready');

      create table person_links (
        owner_id text not null,
        mode text not null check (mode in ('test', 'live')),
        id text collate "C" not null,
        created_at timestamptz(3) not null,
        updated_at timestamptz(3) not null,
        -- The link of a tenant's first person makes that person when it is opened.
        person_id text collate "C",
        kind text not null check (kind in ('sign_in', 'join', 'recovery')),
        recovery_id text collate "C",
        hash text not null,
        expires_at timestamptz(3) not null,
        used_at timestamptz(3),
        revoked_at timestamptz(3),
        primary key (owner_id, mode, id),
        check (person_id is not null or (kind = 'sign_in' and used_at is null)),
        check ((kind = 'recovery') = (recovery_id is not null)),
        check (used_at is null or revoked_at is null),
        foreign key (owner_id, mode, person_id) references people (owner_id, mode, id) deferrable initially deferred,
        foreign key (owner_id, mode, recovery_id) references recoveries (owner_id, mode, id) deferrable initially deferred
      );
      -- Whoever opens a link shows its token alone.
      create unique index person_links_by_hash on person_links (hash);
      create index person_links_open on person_links (owner_id, mode, person_id, id)
        where used_at is null and revoked_at is null;
    `)
  }
}
