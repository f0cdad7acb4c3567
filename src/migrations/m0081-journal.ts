import { Migration } from '@mikro-orm/migrations'

/**
 * An event and its audit entry, which were one to one in two tables, are one row, in a table with a partition for each
 * month. Writes wait until the rows are copied.
 */
export class Journal extends Migration {
  override up(): void {
    this.addSql(`
      alter table pushes drop constraint pushes_event_id_fkey;
      alter table events rename to events_without_actor;
      alter table events_without_actor drop constraint events_pkey;

      create table events (
        id text collate "C" not null,
        owner_id text not null,
        mode text not null check (mode in ('test', 'live')),
        agent_id text,
        event text not null,
        data jsonb not null,
        request_id text not null,
        run_id text,
        -- In the tenant's time.
        created_at timestamptz(3) not null,
        -- Who did what, with which outcome, to which record, from where, and when in real time. The defaults are for
        -- processes of the version before, which write it to audit_entries: it is here when they commit.
        actor_type text not null default '',
        actor_id text,
        action text not null default '',
        outcome text not null default '',
        resource_id text not null default '',
        address text,
        recorded_at timestamptz(3) not null default now(),
        -- The id of an audit entry that was copied; others have that of the event with their own prefix.
        audit_id text collate "C"
      ) partition by range (id);

      -- The first partition ends with this month, and has all that is older. The next ones: add_event_partitions.
      do $$
      declare
        this_month timestamp := date_trunc('month', now() at time zone 'UTC');
        ms bigint := extract(epoch from (this_month + interval '1 month') at time zone 'UTC') * 1000;
        first text := 'events_' || to_char(this_month, 'YYYY_MM');
      begin
        execute format('create table %I partition of events for values from (minvalue) to (%L)', first,
          'event_' || (select string_agg(substr('0123456789abcdefghjkmnpqrstvwxyz', 1 + ((ms >> 45 - 5 * n) & 31)::int, 1), ''
            order by n) from generate_series(0, 9) as n));
        execute format('revoke all on %I from agentpay_application', first);
        execute format('create trigger events_no_truncate before truncate on %I execute function refuse_change()', first);
      end $$;

      insert into events (id, owner_id, mode, agent_id, event, data, request_id, run_id, created_at, actor_type, actor_id,
        action, outcome, resource_id, address, recorded_at, audit_id)
      select e.id, e.owner_id, e.mode, e.agent_id, e.event, e.data, e.request_id, e.run_id, e.created_at,
        coalesce(a.actor_type, ''), a.actor_id, coalesce(a.action, ''), coalesce(a.outcome, ''), coalesce(a.resource_id, ''),
        a.address, coalesce(a.at, e.created_at), a.id
      from events_without_actor e left join audit_entries a on a.event_id = e.id
      order by e.id;
      drop table events_without_actor;

      alter table events add primary key (owner_id, mode, id);
      create index events_by_name on events (owner_id, mode, event, id);
      create index events_by_agent on events (owner_id, mode, agent_id, id) where agent_id is not null;
      create index events_by_resource on events (owner_id, mode, resource_id, id);
      create index events_by_request on events (owner_id, mode, request_id, id);
      create index events_by_run on events (owner_id, mode, run_id, id) where run_id is not null;
      create index events_by_delegation on events (owner_id, mode, (data ->> 'delegationId'), id)
        where data ->> 'delegationId' is not null;
      create trigger events_append_only before update or delete on events
        for each row when (old.action <> '') execute function refuse_change();
      create trigger events_no_truncate before truncate on events execute function refuse_change();
      revoke update, delete on events from agentpay_application;
      alter table pushes add foreign key (owner_id, mode, event_id) references events (owner_id, mode, id)
        deferrable initially deferred;

      -- Processes of the version before write and read audit_entries until they are stopped; a later migration drops it.
      drop index audit_by_owner, audit_by_time, audit_by_request;
    `)
  }
}
