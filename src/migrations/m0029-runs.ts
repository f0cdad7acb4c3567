import { Migration } from '@mikro-orm/migrations'

/** The runs of agents, and what belongs to one. */
export class Runs extends Migration {
  override up(): void {
    this.addSql(`
      create table runs (
        id text collate "C" primary key,
        owner_id text not null,
        mode text not null check (mode in ('test', 'live')),
        created_at timestamptz(3) not null,
        updated_at timestamptz(3) not null,
        agent_id text not null,
        name text not null check (name <> ''),
        external_id text,
        status text not null check (status in ('running', 'completed', 'failed')),
        budget_cents bigint check (budget_cents >= 0),
        comment text,
        reason text,
        ended_at timestamptz(3),
        metadata jsonb not null,
        unique (owner_id, mode, id),
        unique (owner_id, mode, agent_id, id),
        check ((status = 'running') = (ended_at is null)),
        check ((status = 'failed') = (reason is not null)),
        foreign key (owner_id, mode, agent_id) references agents (owner_id, mode, id) deferrable initially deferred
      );
      create unique index runs_by_name on runs (owner_id, mode, external_id, agent_id) where external_id is not null;
      create index runs_by_time on runs (owner_id, mode, created_at);
      create index runs_by_status on runs (owner_id, mode, status, id);
      create index runs_going_on on runs (owner_id, mode, agent_id, id) where status = 'running';

      alter table intents add foreign key (owner_id, mode, agent_id, run_id)
        references runs (owner_id, mode, agent_id, id) deferrable initially deferred;
      create index intents_by_run on intents (owner_id, mode, run_id, id) where run_id is not null;
      alter table transactions add foreign key (owner_id, mode, agent_id, run_id)
        references runs (owner_id, mode, agent_id, id) deferrable initially deferred;

      alter table events add column run_id text;
      alter table audit_entries add column run_id text;
      create index audit_by_run on audit_entries (owner_id, mode, run_id, id) where run_id is not null;
    `)
  }
}
