import { Migration } from '@mikro-orm/migrations'

/** The papers of payments, and on each intent how its papers stand. */
export class Receipts extends Migration {
  override up(): void {
    this.addSql(`
      create table receipts (
        owner_id text not null,
        mode text not null check (mode in ('test', 'live')),
        id text collate "C" not null,
        created_at timestamptz(3) not null,
        updated_at timestamptz(3) not null,
        agent_id text collate "C",
        delegation_id text collate "C",
        transaction_id text collate "C",
        intent_id text collate "C",
        status text not null check (status in ('unread', 'unmatched', 'suggested', 'matched', 'mismatch')),
        matched_by text check (matched_by in ('caller', 'text')),
        score int check (score between 0 and 100),
        reasons text[] not null,
        suggestions jsonb not null,
        facts jsonb,
        file_name text check (char_length(file_name) between 1 and 120),
        media_type text not null check (media_type in ('application/pdf', 'image/jpeg', 'image/png', 'image/webp')),
        bytes int not null check (bytes > 0),
        sha256 text collate "C" not null check (sha256 ~ '^[0-9a-f]{64}$'),
        pages int check (pages > 0),
        notes text[] not null check (notes <@ '{encrypted,scripts,attachments}'),
        is_plain boolean not null,
        small_sha256 text collate "C" not null check (small_sha256 ~ '^[0-9a-f]{64}$'),
        large_sha256 text collate "C" not null check (large_sha256 ~ '^[0-9a-f]{64}$'),
        received_at timestamptz(3) not null,
        primary key (owner_id, mode, id),
        check ((status in ('matched', 'mismatch')) = (transaction_id is not null)),
        check ((matched_by is null) = (transaction_id is null)),
        check (intent_id is null or transaction_id is not null),
        foreign key (owner_id) references customers (id) deferrable initially deferred,
        foreign key (owner_id, mode, agent_id) references agents (owner_id, mode, id) deferrable initially deferred,
        foreign key (owner_id, mode, transaction_id)
          references transactions (owner_id, mode, id) deferrable initially deferred,
        foreign key (owner_id, mode, intent_id) references intents (owner_id, mode, id) deferrable initially deferred
      );
      create index receipts_of_transaction on receipts (owner_id, mode, transaction_id, id);
      create index receipts_of_intent on receipts (owner_id, mode, intent_id, id) where intent_id is not null;
      create index receipts_by_agent on receipts (owner_id, mode, agent_id, id);
      create index receipts_by_status on receipts (owner_id, mode, status, id);

      alter table intents add column receipt_status text check (receipt_status in ('matched', 'mismatch'));
    `)
  }
}
