import { Migration } from '@mikro-orm/migrations'

/** When the forecast of an agent is held against its monthly limit next, and the month in which its owner was told. */
export class BudgetWatches extends Migration {
  override up(): void {
    this.addSql(`
      create table budget_watches (
        owner_id text not null,
        mode text not null check (mode in ('test', 'live')),
        agent_id text collate "C" not null,
        due_at timestamptz(3) not null,
        told_month text check (told_month ~ '^[0-9]{4}-[0-9]{2}$'),
        primary key (owner_id, mode, agent_id),
        foreign key (owner_id, mode, agent_id) references agents (owner_id, mode, id) deferrable initially deferred
      );
      create index budget_watches_due on budget_watches (mode, due_at);
      create index budget_watches_due_of_tenant on budget_watches (owner_id, mode, due_at);
      insert into budget_watches (owner_id, mode, agent_id, due_at)
      select distinct owner_id, mode, agent_id, date_trunc('day', now(), 'UTC') + interval '1 day' from policies
      where agent_id is not null and deleted_at is null and monthly_limit_cents is not null;
    `)
  }
}
