-- Area: identity. For a span, a deputy may approve in place of a person.
create table deputies (
  owner_id text not null,
  mode text not null check (mode in ('test', 'live')),
  id text collate "C" not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  person_id text collate "C" not null,
  -- Without a foreign key, since the end of the account erases it.
  deputy_id text collate "C" not null,
  starts_at timestamptz(3) not null,
  ends_at timestamptz(3) not null,
  primary key (owner_id, mode, id),
  check (person_id <> deputy_id),
  check (ends_at > starts_at and ends_at <= starts_at + interval '90 days'),
  foreign key (owner_id, mode, person_id) references people (owner_id, mode, id) deferrable initially deferred
);
create index deputies_by_person on deputies (owner_id, mode, person_id, id);
create index deputies_by_deputy on deputies (owner_id, mode, deputy_id);
create index deputies_by_end on deputies (ends_at);
