-- Area: delivery. Where a person is asked besides the console: e-mail, Slack, Teams. A channel carries the question, and never
-- the power to answer it.
create table channels (
  owner_id text not null,
  mode text not null check (mode in ('test', 'live')),
  id text collate "C" not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  person_id text collate "C" not null,
  type text not null check (type in ('email', 'slack', 'teams')),
  -- Sealed: who knows it can write there. E-mail goes to the address of the person's record.
  url text,
  language text not null check (language in ('en', 'de')),
  -- Hours of the day in UTC, from the first until before the second; null: always.
  hours_from integer check (hours_from between 0 and 23),
  hours_to integer check (hours_to between 0 and 23),
  -- Sealed, until the person has entered it.
  code text,
  code_expires_at timestamptz(3),
  verified_at timestamptz(3),
  -- When a message was last given up; null after one that arrived.
  failed_at timestamptz(3),
  primary key (owner_id, mode, id),
  check ((type = 'email') = (url is null)),
  check ((hours_from is null) = (hours_to is null)),
  check (hours_from <> hours_to),
  check ((code is null) = (code_expires_at is null)),
  check ((code is null) = (verified_at is not null)),
  foreign key (owner_id, mode, person_id) references people (owner_id, mode, id) deferrable initially deferred
);
create index channels_of_person on channels (owner_id, mode, person_id, id);
create unique index channels_by_email on channels (owner_id, mode, person_id) where type = 'email';
create index channels_verified on channels (owner_id, mode) where verified_at is not null;

create table channel_settings (
  owner_id text not null,
  mode text not null check (mode in ('test', 'live')),
  id text collate "C" not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  include_details boolean not null,
  primary key (owner_id, mode, id),
  unique (owner_id, mode)
);

-- What waits to be sent, by real time. Without a foreign key to the channel: the sender drops what has none any more.
create table channel_messages (
  owner_id text not null,
  mode text not null,
  id text collate "C" not null,
  kind text not null check (kind in ('intent', 'card_request', 'change_request', 'transfer', 'recovery', 'code', 'link')),
  subject_id text collate "C" not null,
  -- Null for a link, which goes to the address of the person's record.
  channel_id text collate "C",
  person_id text collate "C" not null,
  created_at timestamptz(3) not null,
  due_at timestamptz(3) not null,
  attempts integer not null default 0,
  -- Its place among the messages of the person in the hour of its first attempt.
  place integer,
  leased_by text collate "C",
  leased_until timestamptz(3),
  primary key (owner_id, mode, id)
);
create index channel_messages_due on channel_messages (due_at);
create index channel_messages_by_age on channel_messages (created_at);

-- How many messages a person got in an hour, by real time.
create table channel_hours (
  owner_id text not null,
  mode text not null,
  person_id text collate "C" not null,
  kind text not null check (kind in ('questions', 'access')),
  hour timestamptz(3) not null,
  used integer not null,
  primary key (owner_id, mode, person_id, kind, hour)
);
create index channel_hours_by_age on channel_hours (hour);

alter table process_leases drop constraint process_leases_kind_check;
alter table process_leases add constraint process_leases_kind_check
  check (kind in ('deliveries', 'pushes', 'channel_messages', 'outbox', 'streams', 'calls'));

-- Area: identity. A link goes to an address only if it has been on record long enough. The address of a person who was changed in the last hours may be new.
alter table people add column email_changed_at timestamptz(3);
update people set email_changed_at = updated_at where email is not null and updated_at > created_at;
-- Sealed, until the message has been sent.
alter table person_links add column url text;
