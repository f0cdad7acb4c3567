import { Migration } from '@mikro-orm/migrations'

/** What the process of a card waits for, and what it has told the processor. */
export class CardProcesses extends Migration {
  override up(): void {
    this.addSql(`
      alter table cards
        add column attempts int not null default 0 check (attempts >= 0),
        add column call_due_at timestamptz(3),
        add column next_number_id text collate "C",
        add column next_number_at timestamptz(3),
        add column overlap_minutes int check (overlap_minutes between 0 and 10080),
        add column spent_at timestamptz(3),
        add column purse_due_at timestamptz(3),
        add check (num_nulls(next_number_id, next_number_at, overlap_minutes) in (0, 3)),
        add check (purse_due_at is null or (status = 'closed' and wallet_id is not null));
      create index cards_of_tenant_due on cards (owner_id, mode, due_at) where due_at is not null;
      create index cards_by_intent on cards (owner_id, mode, intent_id, id) where intent_id is not null;
      -- The relay looks for runs of cards that wait, closed ones too, in the order of their ids.
      drop index cards_open;
      create index cards_waiting on cards (id) where due_at is not null;

      alter table card_numbers
        add column told_state text check (told_state in ('inactive', 'active', 'closed')),
        add column told_count int not null default 0 check (told_count >= 0),
        add column controls_version int not null default 1 check (controls_version > 0);
    `)
  }
}
