import { Migration } from '@mikro-orm/migrations'

/** What the kernel itself keeps: events, the audit trail, idempotency keys, the tenants' clocks, rate limits. */
export class Kernel extends Migration {
  override up(): void {
    this.addSql(`
      create function refuse_change() returns trigger language plpgsql as $$
      begin
        raise exception '% is append-only', tg_table_name using errcode = 'restrict_violation';
      end $$;

      create table events (
        id text collate "C" primary key,
        owner_id text not null,
        mode text not null check (mode in ('test', 'live')),
        agent_id text,
        event text not null,
        data jsonb not null,
        request_id text not null,
        created_at timestamptz(3) not null,
        unique (owner_id, mode, id)
      );
      create index events_by_name on events (owner_id, mode, event, id);
      create index events_by_time on events (owner_id, mode, created_at);
      create index events_by_agent on events (owner_id, mode, agent_id, id) where agent_id is not null;
      create trigger events_append_only before update or delete on events
        for each row execute function refuse_change();
      create trigger events_no_truncate before truncate on events execute function refuse_change();

      create table audit_entries (
        id text collate "C" primary key,
        owner_id text not null,
        mode text not null check (mode in ('test', 'live')),
        actor_type text not null,
        actor_id text,
        action text not null,
        event text not null,
        event_id text,
        outcome text not null,
        resource_id text not null,
        agent_id text,
        request_id text not null,
        address text,
        at timestamptz(3) not null
      );
      create index audit_by_owner on audit_entries (owner_id, mode, id);
      create index audit_by_time on audit_entries (owner_id, mode, at);
      create index audit_by_request on audit_entries (owner_id, mode, request_id);
      create index audit_by_resource on audit_entries (owner_id, mode, resource_id, id);
      create trigger audit_append_only before update or delete on audit_entries
        for each row execute function refuse_change();
      create trigger audit_no_truncate before truncate on audit_entries execute function refuse_change();

      create table idempotency_keys (
        owner_id text not null,
        mode text not null,
        agent_id text not null,
        operation text not null,
        key text not null,
        request_hash text not null,
        status integer,
        body text,
        error_code text,
        reservation jsonb,
        created_at timestamptz(3) not null,
        primary key (owner_id, mode, agent_id, operation, key)
      );
      create index idempotency_by_age on idempotency_keys (created_at);

      create table tenant_clocks (
        owner_id text not null,
        mode text not null check (mode = 'test'),
        offset_ms bigint not null check (offset_ms >= 0),
        aim_ms bigint not null default 0 check (aim_ms >= 0),
        primary key (owner_id, mode)
      );

      create unlogged table rate_limits (
        client text primary key,
        used integer not null,
        resets_at timestamptz(3) not null
      );
      create index rate_limits_by_end on rate_limits (resets_at);
    `)
  }
}
