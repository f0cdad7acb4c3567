import { Migration } from '@mikro-orm/migrations'

/** What a process has taken is free again some seconds after it has died. */
export class ProcessLeases extends Migration {
  override up(): void {
    this.addSql(`
      -- A process that takes deliveries or pushes. It says again and again that it lives; once it has not for so long, its
      -- row goes, and with it what it has taken is free.
      create table process_leases (
        id text collate "C" primary key,
        kind text not null check (kind in ('deliveries', 'pushes')),
        held_until timestamptz(3) not null
      );

      -- The process that has taken it, null where nobody has or a process of an earlier version. In no index: to take one
      -- costs none a change.
      alter table deliveries add column leased_by text collate "C";
      alter table pushes add column leased_by text collate "C", add column leased_until timestamptz(3);

      -- Of each subscription so many that nobody has, the oldest first, for the process that holds this lease. In one
      -- statement: the one around this function may have begun before the event was there. What has just been locked is
      -- found by its place.
      create function lease_deliveries(webhook_ids text[], counts integer[], lease interval, holder text)
      returns table (id text, webhook_id text, claim integer, event_id text, event text, request_id text, body text)
      language plpgsql rows 100 set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off as $$
      begin
        return query
        with free as (
          select d.place from unnest(webhook_ids, counts) as share(webhook_id, most)
          cross join lateral (
            select one.ctid as place from deliveries one
            where one.webhook_id = share.webhook_id and one.status = 'pending' and one.due_at <= clock_timestamp()
              and (one.leased_until is null or one.leased_until <= clock_timestamp())
            order by one.due_at limit share.most for update skip locked
          ) d
        ), taken as (
          update deliveries set claims = claims + 1, leased_until = clock_timestamp() + lease, leased_by = holder,
            updated_at = clock_timestamp()
          where deliveries.ctid = any(array(select free.place from free))
          returning deliveries.id, deliveries.webhook_id, deliveries.claims, deliveries.event_id
        )
        select t.id, t.webhook_id, t.claims, t.event_id, e.event, e.request_id,
          event_body(e.event, e.created_at, e.data)
        from taken t join events e on e.id = t.event_id;
      end $$;

      -- As processes of the version before call it.
      create or replace function claim_deliveries(webhook_ids text[], counts integer[], lease interval)
      returns table (id text, webhook_id text, claim integer, event text, request_id text, body text)
      language sql rows 100 as $$
        select t.id, t.webhook_id, t.claim, t.event, t.request_id, t.body
        from lease_deliveries(webhook_ids, counts, lease, null) t
      $$;

      -- Frees what processes had taken that have not said for too long that they live; gives how many.
      create function free_leases(of_kind text) returns integer
      language plpgsql set enable_seqscan = off as $$
      declare
        dead text[];
        freed integer;
      begin
        with gone as (
          delete from process_leases where kind = of_kind and held_until <= clock_timestamp() returning id
        )
        select array_agg(id) into dead from gone;
        if dead is null then
          return 0;
        end if;
        if of_kind = 'deliveries' then
          update deliveries set leased_until = null
          where status = 'pending' and leased_until is not null and leased_by = any(dead);
        else
          update pushes set leased_until = null where leased_until is not null and leased_by = any(dead);
        end if;
        get diagnostics freed = row_count;
        return freed;
      end $$;
    `)
  }
}
