-- Area: kernel. The version of the runs in Temporal that belong to these records. `migrate` ends those of an older one
-- before it is raised, and the relay begins them anew from their records.
create table run_takeovers (
  version integer primary key,
  at timestamptz(3) not null default now()
);
