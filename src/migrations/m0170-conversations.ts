import { Migration } from '@mikro-orm/migrations'

/** What people and programs have asked in sentences, and what was answered. */
export class Conversations extends Migration {
  override up(): void {
    this.addSql(`
      create table conversations (
        owner_id text not null references customers deferrable initially deferred,
        mode text not null check (mode in ('test', 'live')),
        id text collate "C" not null,
        created_at timestamptz(3) not null,
        updated_at timestamptz(3) not null,
        agent_id text collate "C",
        -- Whoever asks: nobody else reads it.
        caller_id text collate "C" not null,
        title text not null,
        primary key (owner_id, mode, id),
        foreign key (owner_id, mode, agent_id) references agents (owner_id, mode, id) deferrable initially deferred
      );
      create index conversations_by_caller on conversations (owner_id, mode, caller_id, id);

      create table conversation_turns (
        owner_id text not null,
        mode text not null check (mode in ('test', 'live')),
        id text collate "C" not null,
        created_at timestamptz(3) not null,
        updated_at timestamptz(3) not null,
        conversation_id text collate "C" not null,
        message text not null,
        -- Null until the answer is at its end: the service was stopped before that, or somebody went away.
        lines jsonb,
        primary key (owner_id, mode, id),
        foreign key (owner_id, mode, conversation_id) references conversations (owner_id, mode, id)
          on delete cascade deferrable initially deferred
      );
      create index conversation_turns_in on conversation_turns (owner_id, mode, conversation_id, id);
    `)
  }
}
