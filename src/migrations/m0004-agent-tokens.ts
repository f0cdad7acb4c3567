import { Migration } from '@mikro-orm/migrations'

/** The secrets that agents call with. */
export class AgentTokens extends Migration {
  override up(): void {
    this.addSql(`
      create table agent_tokens (
        id text collate "C" primary key,
        owner_id text not null,
        mode text not null check (mode in ('test', 'live')),
        created_at timestamptz(3) not null,
        updated_at timestamptz(3) not null,
        agent_id text not null,
        label text not null,
        hash text not null unique,
        hint text not null,
        scopes text[] not null,
        expires_at timestamptz(3),
        last_used_at timestamptz(3),
        revoked_at timestamptz(3),
        foreign key (owner_id, mode, agent_id) references agents (owner_id, mode, id) deferrable initially deferred
      );
      create index agent_tokens_by_agent on agent_tokens (owner_id, mode, agent_id, id);
    `)
  }
}
