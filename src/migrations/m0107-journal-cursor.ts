import { Migration } from '@mikro-orm/migrations'

/** The journal can be followed in the order of its commits, and streams of events are counted over all processes. */
export class JournalCursor extends Migration {
  override up(): void {
    this.addSql(`
      -- What is added to the numbers of this cluster's transactions. A dump that is restored into another cluster brings
      -- numbers that lie ahead of that cluster's own: see continue_journal.
      create table journal_origin (
        is_only boolean primary key default true check (is_only),
        added bigint not null
      );
      insert into journal_origin (added) values (0);
      revoke insert, update, delete on journal_origin from agentpay_application;

      -- The transaction that has written the event. Ids are made before the commit, so they are no cursor; what lies
      -- below the oldest transaction that is still open is complete, whatever process wrote it. The default serves
      -- processes of the version before, too. It is no volatile one: rows that exist get the number of this transaction,
      -- in the order of their ids, and no table is written anew.
      alter table events add column written_in bigint not null default (pg_current_xact_id()::text::bigint + 0);

      -- Both orders are needed. One process follows all tenants at once, and reads what is new to any of them in one
      -- range. Who resumes reads one tenant's past, and what that costs must not depend on all others. Bounding a scan of
      -- the primary key by the times in ids would need no index, and would miss events where a transaction was open for
      -- longer than the bound, or a clock was wrong. Numbers of transactions rise, so the first index only grows at its
      -- end: it makes the insertion of an event 2 to 4 % dearer, and the second one 5 to 8 %.
      create index events_by_commit on events (written_in, id);
      create index events_of_tenant_by_commit on events (owner_id, mode, written_in, id);

      alter table process_leases drop constraint process_leases_kind_check,
        add constraint process_leases_kind_check check (kind in ('deliveries', 'pushes', 'outbox', 'streams'));

      -- The streams of events that are open, each in a place of its owner. They end with the process that serves them.
      create table event_streams (
        owner_id text not null,
        place integer not null check (place > 0),
        id text collate "C" not null,
        leased_by text collate "C" not null references process_leases on delete cascade,
        opened_at timestamptz(3) not null,
        primary key (owner_id, place)
      );
      create index event_streams_by_lease on event_streams (leased_by);
    `)
  }
}
