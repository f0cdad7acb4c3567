import { Migration } from '@mikro-orm/migrations'

/** Who wants to hear of events, and what has been and will be sent to whom. */
export class Webhooks extends Migration {
  override up(): void {
    this.addSql(`
      create table webhooks (
        id text collate "C" primary key,
        owner_id text not null,
        mode text not null check (mode in ('test', 'live')),
        created_at timestamptz(3) not null,
        updated_at timestamptz(3) not null,
        url text not null check (length(url) between 1 and 2048),
        events text[] not null check (cardinality(events) >= 1),
        description text,
        status text not null check (status in ('active', 'disabled')),
        status_reason text,
        secret text not null,
        hint text not null,
        next_secret text,
        next_hint text,
        next_from timestamptz(3),
        failures integer not null check (failures >= 0),
        failing_since timestamptz(3),
        paused_until timestamptz(3),
        deleted_at timestamptz(3),
        unique (owner_id, mode, id),
        check ((status = 'disabled') = (status_reason is not null)),
        check (num_nulls(next_secret, next_hint, next_from) in (0, 3)),
        check ((failures = 0) = (failing_since is null)),
        check (failures > 0 or paused_until is null)
      );
      create index webhooks_that_listen on webhooks (owner_id, mode) where status = 'active' and deleted_at is null;
      create index webhooks_by_status on webhooks (owner_id, mode, status, id) where deleted_at is null;

      create table deliveries (
        id text collate "C" primary key,
        owner_id text not null,
        mode text not null check (mode in ('test', 'live')),
        created_at timestamptz(3) not null,
        updated_at timestamptz(3) not null,
        webhook_id text not null,
        event_id text not null,
        event text not null,
        status text not null check (status in ('pending', 'delivered', 'failed', 'dead')),
        -- When it may be taken; where somebody has taken it, when it may be taken from him.
        due_at timestamptz(3),
        leased boolean not null,
        claims integer not null check (claims >= 0),
        tries integer not null check (tries >= 0),
        attempts jsonb not null,
        workflow_id text,
        unique (owner_id, mode, id),
        check ((status = 'pending') = (due_at is not null)),
        check (not leased or status = 'pending'),
        foreign key (owner_id, mode, event_id) references events (owner_id, mode, id) deferrable initially deferred,
        foreign key (owner_id, mode, webhook_id) references webhooks (owner_id, mode, id) deferrable initially deferred
      );
      create index deliveries_open on deliveries (webhook_id, due_at) where status = 'pending';
      create index deliveries_by_webhook on deliveries (owner_id, mode, webhook_id, id);
      create index deliveries_in_trouble on deliveries (owner_id, mode, status, id) where status in ('failed', 'dead');

      -- A delivery of each event for everybody who wants to hear of it, in the transaction of the event; gives how many.
      -- A ping is for the one that it names, and for nobody else.
      create function publish_events(written jsonb) returns integer language plpgsql as $$
      declare
        made integer;
      begin
        insert into deliveries (id, owner_id, mode, created_at, updated_at, webhook_id, event_id, event, status, due_at,
          leased, claims, tries, attempts)
        select 'delivery_' || substr(e.id, 7, 10) || substr(replace(gen_random_uuid()::text, '-', ''), 1, 16),
          w.owner_id, w.mode, clock_timestamp(), clock_timestamp(), w.id, e.id, e.event, 'pending', clock_timestamp(),
          false, 0, 0, '[]'
        from jsonb_to_recordset(written) as e(id text, "ownerId" text, mode text, event text, data jsonb)
        join webhooks w on w.owner_id = e."ownerId" and w.mode = e.mode and w.status = 'active' and w.deleted_at is null
        where case e.event when 'webhook.ping' then e.data ->> 'webhookId' = w.id
          else w.events && array['*', e.event] end;
        get diagnostics made = row_count;
        return made;
      end $$;

      -- What is sent: an event is never changed, and so every attempt has the same bytes.
      create function event_body(event text, created_at timestamptz, data jsonb) returns text language sql stable as $$
        select '{"event":' || to_json(event) || ',"createdAt":"'
          || to_char(created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') || '","data":' || data || '}'
      $$;
    `)
  }
}
