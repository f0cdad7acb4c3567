-- The journal writes less for an event: the seals of its audit trail are one row for a range of entries, and its indexes are
-- narrower. See docs/decisions/0023.

-- Area: kernel.
-- The ids of agents, runs, delegations and records name no owner twice, so their indexes need none. Requests may have any id.
-- A tenant's events in the order of the journal are found by its seals: see tenant_events_after.
drop index events_by_agent, events_by_resource, events_by_run, events_by_delegation, events_by_commit, events_of_tenant_by_commit;
create index events_by_agent on events (agent_id, id) where agent_id is not null;
-- Each event has a record and a transaction. These conditions keep PostgreSQL from looking up an id here by skipping from one
-- value to the next, which it would do in a table that it has not analysed.
create index events_by_resource on events (resource_id, id) where resource_id is not null;
create index events_by_commit on events (written_in, id) where written_in is not null;
create index events_by_run on events (run_id, id) where run_id is not null;
create index events_by_delegation on events ((data ->> 'delegationId'), id) where data ->> 'delegationId' is not null;

-- Area: compliance.
-- Late transactions are sealed as a whole. The rest of one that the previous version had begun would be sealed twice.
do $$
begin
  if exists (
    select from audit_sealing f
    join events e on e.written_in = any(f.open)
    join audit_seals s on (s.owner_id, s.mode, s.event_id) = (e.owner_id, e.mode, e.id)
  ) then
    raise exception 'The sealer of the previous version is in the middle of a transaction.'
      using hint = 'Start the previous version until GET /audit/verify reports no unsealed entries, then upgrade.';
  end if;
end $$;

alter table audit_seals rename to audit_seals_of_entries;
alter index audit_seals_pkey rename to audit_seals_of_entries_pkey;

-- The entries of a range of a tenant's tree, in their order. The events themselves are not touched.
create table audit_seals (
  owner_id text not null,
  mode text not null check (mode in ('test', 'live')),
  -- Of the first entry. A range ends within a tile, so that an entry is found by its position.
  position bigint not null check ("position" >= 0),
  event_ids text[] collate "C" not null check (cardinality(event_ids) between 1 and 256),
  leaves bytea[] not null,
  -- By the place of each text about a person: what its HMAC is keyed with, and the HMAC that is in the leaf.
  salts jsonb[] not null,
  commitments jsonb[] not null,
  -- Between these transactions lie the events.
  first_written_in bigint not null,
  last_written_in bigint not null,
  -- The events of a transaction that was open when sealing passed it have ranges of their own. All other ranges follow each
  -- other in the order of the journal.
  is_late boolean not null,
  primary key (owner_id, mode, "position"),
  check (cardinality(event_ids) = all (array[cardinality(leaves), cardinality(salts), cardinality(commitments)]))
);
alter table audit_seals alter column event_ids set storage external, alter column leaves set storage external;
revoke update, delete on audit_seals from agentpay_application;

insert into audit_seals
with entries as (
  select s.*, e.written_in,
    max(e.written_in) over (partition by s.owner_id, s.mode order by s.position) as reached
  from audit_seals_of_entries s left join events e on (e.owner_id, e.mode, e.id) = (s.owner_id, s.mode, s.event_id)
), kinds as (
  select *, case when written_in < reached then written_in end as late_in from entries
), breaks as (
  select *, late_in is distinct from lag(late_in) over trail or position <> lag(position) over trail + 1 as begins
  from kinds window trail as (partition by owner_id, mode order by position)
), ranges as (
  select *, count(*) filter (where begins) over (partition by owner_id, mode order by position) as range from breaks
)
select owner_id, mode, min(position), array_agg(event_id order by position), array_agg(leaf order by position),
  array_agg(salts order by position), array_agg(commitments order by position), coalesce(min(written_in), 0),
  coalesce(max(written_in), 0), bool_or(late_in is not null)
from ranges group by owner_id, mode, range, position / 256;

drop table audit_seals_of_entries;
create index audit_seals_by_commit on audit_seals (owner_id, mode, last_written_in, position);
