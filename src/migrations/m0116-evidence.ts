import { Migration } from '@mikro-orm/migrations'

/** What agents and owners keep to prove a payment. The role that the programs work as can add to it and change nothing. */
export class EvidenceKept extends Migration {
  override up(): void {
    this.addSql(`
      create table evidence (
        owner_id text not null,
        mode text not null check (mode in ('test', 'live')),
        id text collate "C" not null,
        created_at timestamptz(3) not null,
        updated_at timestamptz(3) not null,
        agent_id text collate "C" not null,
        delegation_id text collate "C",
        intent_id text collate "C" not null,
        type text not null check (type in ('receipt', 'screenshot', 'invoice', 'confirmation', 'other')),
        note text check (char_length(note) between 1 and 1000),
        text text check (char_length(text) between 1 and 20000),
        file_name text check (char_length(file_name) between 1 and 120),
        media_type text not null,
        bytes int not null check (bytes > 0),
        sha256 text collate "C" not null check (sha256 ~ '^[0-9a-f]{64}$'),
        received_at timestamptz(3) not null,
        primary key (owner_id, mode, id),
        -- A text is in the row, any other content in a file.
        check ((media_type = 'text/plain') = (text is not null)),
        check (text is null or file_name is null),
        foreign key (owner_id) references customers (id) deferrable initially deferred,
        foreign key (owner_id, mode, agent_id) references agents (owner_id, mode, id) deferrable initially deferred,
        foreign key (owner_id, mode, intent_id) references intents (owner_id, mode, id) deferrable initially deferred
      );
      create index evidence_of_intent on evidence (owner_id, mode, intent_id, id);
      create index evidence_by_agent on evidence (owner_id, mode, agent_id, id);
      revoke update, delete on evidence from agentpay_application;
      create trigger evidence_append_only before update on evidence for each row execute function refuse_change();
      create trigger evidence_no_truncate before truncate on evidence execute function refuse_change();
    `)
  }
}
