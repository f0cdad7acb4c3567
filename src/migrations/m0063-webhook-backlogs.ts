import { Migration } from '@mikro-orm/migrations'

/** A subscription for which too much waits is paused, and hears of what has happened since from the events themselves. */
export class WebhookBacklogs extends Migration {
  override up(): void {
    this.addSql(`
      -- Paused: of events up to this one there are deliveries, of later ones none. What it wanted to hear of in stretches
      -- that have ended: [{"until": "event_…", "events": […]}], the oldest first.
      alter table webhooks
        add column backlog_after text collate "C",
        add column backlog_since timestamptz(3),
        add column backlog_wanted jsonb not null default '[]',
        add constraint webhooks_backlog check (num_nulls(backlog_after, backlog_since) in (0, 2));
      create index webhooks_behind on webhooks (id) where backlog_after is not null;

      -- Held, shared, by those who publish events of an owner, until they are committed; by one alone who moves the place
      -- up to which a subscription of this owner has deliveries. So this place divides the events without a gap.
      create function publishing_lock(of_owner text) returns bigint language sql immutable as $$
        select hashtextextended('publishing|' || of_owner, 0)
      $$;

      -- A delivery of each event for everybody who wants to hear of it, in the transaction of the event; gives how many.
      -- A ping is for the one that it names, and for nobody else.
      create or replace function publish_events(written jsonb, owners text[]) returns integer
      language plpgsql set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
      declare
        made integer;
      begin
        -- For the many of whom nobody wants to hear it costs one look.
        if not exists (select from webhooks w
          where w.owner_id = any(owners) and w.status = 'active' and w.deleted_at is null) then
          return 0;
        end if;
        perform pg_advisory_xact_lock_shared(publishing_lock(one.owner))
        from (select owner from unnest(owners) as owner order by owner) as one;
        insert into deliveries (id, owner_id, mode, created_at, updated_at, webhook_id, event_id, event, status, due_at,
          claims, tries, attempts)
        select 'delivery_' || substr(e.id, 7, 10) || substr(replace(gen_random_uuid()::text, '-', ''), 1, 16),
          w.owner_id, w.mode, clock_timestamp(), clock_timestamp(), w.id, e.id, e.event, 'pending', clock_timestamp(),
          0, 0, '[]'
        from jsonb_to_recordset(written) as e(id text, "ownerId" text, mode text, event text, data jsonb)
        join webhooks w on w.owner_id = e."ownerId" and w.mode = e.mode and w.status = 'active' and w.deleted_at is null
        where case e.event when 'webhook.ping' then e.data ->> 'webhookId' = w.id
          else w.events && array['*', e.event] end
          and (w.backlog_after is null or e.id <= w.backlog_after);
        get diagnostics made = row_count;
        return made;
      end $$;

      -- Waits until what is being published of this owner is committed, and holds up what comes then until the
      -- transaction ends; gives the last event.
      create function hold_events(of_owner text, of_mode text) returns text language plpgsql as $$
      begin
        perform pg_advisory_xact_lock(publishing_lock(of_owner));
        return coalesce((select e.id from events e where (e.owner_id, e.mode) = (of_owner, of_mode)
          order by e.id desc limit 1), '');
      end $$;

      -- How many deliveries may wait for each subscription of this owner: an equal part of what the plan allows.
      create function webhook_room(of_owner text, of_mode text, limits jsonb) returns integer
      language sql stable as $$
        select greatest(100, coalesce(limits ->> c.plan, limits ->> 'free')::int / greatest(1, (
          select count(*) from webhooks w
          where (w.owner_id, w.mode) = (of_owner, of_mode) and w.status = 'active' and w.deleted_at is null)))::int
        from customers c where c.id = of_owner
      $$;

      -- Subscriptions for which more waits than that, and which are not paused. From one to the next by the index.
      create function overfull_webhooks(limits jsonb) returns table (id text, owner_id text, mode text)
      language plpgsql rows 20 set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off as $$
      begin
        return query
        with recursive waiting as (
          (select d.webhook_id from deliveries d where d.status = 'pending' order by d.webhook_id, d.due_at limit 1)
          union all
          select next.webhook_id from waiting cross join lateral (
            select d.webhook_id from deliveries d where d.status = 'pending' and d.webhook_id > waiting.webhook_id
            order by d.webhook_id, d.due_at limit 1
          ) next
        )
        select w.id, w.owner_id, w.mode from waiting
        cross join lateral (select * from webhooks one where one.id = waiting.webhook_id limit 1) w
        where w.status = 'active' and w.deleted_at is null and w.backlog_after is null
          and has_waiting(w.id, 100) and has_waiting(w.id, webhook_room(w.owner_id, w.mode, limits));
      end $$;

      -- Whether more deliveries than so many wait for this subscription.
      create function has_waiting(of_webhook text, more_than integer) returns boolean
      language plpgsql stable set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off as $$
      begin
        return (select true from deliveries d where d.webhook_id = of_webhook and d.status = 'pending'
          order by d.due_at offset more_than limit 1) is not null;
      end $$;

      -- The paused ones whose receivers take something, and how many deliveries can be made for each now. Where there are
      -- more than are asked for it is chance that chooses, so that none that is slow keeps the others out.
      create function paused_by_backlog(limits jsonb, most integer)
      returns table (id text, owner_id text, mode text, free integer) language plpgsql rows 20 as $$
      begin
        return query
        select w.id, w.owner_id, w.mode, case when has_waiting(w.id, room / 2) then 0 else room - room / 2 end
        from webhooks w cross join lateral (select webhook_room(w.owner_id, w.mode, limits) as room) of_owner
        where w.backlog_after is not null and w.status = 'active' and w.deleted_at is null
          and (w.paused_until is null or w.paused_until <= clock_timestamp())
        order by random() limit most;
      end $$;

      -- Makes the next deliveries of a paused subscription, at most so many, of events that come after this id at the
      -- earliest; tells whether none is left. Nothing where somebody else is at it, or publishes for long.
      create function replay_events(of_webhook text, most integer, earliest text)
      returns table (made integer, is_through boolean)
      language plpgsql set lock_timeout = '500ms' set enable_seqscan = off as $$
      declare
        w webhooks%rowtype;
        last_event text;
        seen integer;
        last_seen text;
        last_made text;
      begin
        select * into w from webhooks one where one.id = of_webhook and one.status = 'active'
          and one.deleted_at is null and one.backlog_after is not null for no key update skip locked;
        if not found then
          return query select 0, false;
          return;
        end if;
        last_event := hold_events(w.owner_id, w.mode);
        with next as materialized (
          select e.id, e.event, e.data from events e
          where e.owner_id = w.owner_id and e.mode = w.mode and e.id > greatest(w.backlog_after, earliest)
          order by e.id limit 1000
        ), wanted as (
          select n.id, n.event from next n
          where case n.event when 'webhook.ping' then n.data ->> 'webhookId' = w.id else coalesce((
            select s.value -> 'events' from jsonb_array_elements(w.backlog_wanted) with ordinality s
            where s.value ->> 'until' >= n.id collate "C" order by s.ordinality limit 1
          ), to_jsonb(w.events)) ?| array['*', n.event] end
          order by n.id limit most
        ), new as (
          insert into deliveries (id, owner_id, mode, created_at, updated_at, webhook_id, event_id, event, status, due_at,
            claims, tries, attempts)
          select 'delivery_' || substr(n.id, 7, 10) || substr(replace(gen_random_uuid()::text, '-', ''), 1, 16),
            w.owner_id, w.mode, clock_timestamp(), clock_timestamp(), w.id, n.id, n.event, 'pending', clock_timestamp(),
            0, 0, '[]'
          from wanted n order by n.id
          returning event_id
        )
        select (select count(*) from next), (select max(n.id) from next n), (select count(*) from new),
          (select max(event_id) from new)
        into seen, last_seen, made, last_made;
        is_through := seen < 1000 and made < most;
        update webhooks one set backlog_after =
          case when is_through then greatest(w.backlog_after, last_event) when made = most then last_made else last_seen end
        where one.id = of_webhook;
        return next;
      exception when lock_not_available then
        return query select 0, false;
      end $$;
    `)
  }
}
