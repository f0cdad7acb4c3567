import { Migration } from '@mikro-orm/migrations'

/** A delegation's token sees the disputes of what was paid under it; what evidence shows is made as it comes. */
export class DisputesOfDelegations extends Migration {
  override up(): void {
    this.addSql(`
      alter table disputes add column delegation_id text collate "C";
      update disputes d set delegation_id = i.delegation_id
        from transactions t, intents i
        where (t.owner_id, t.mode, t.id) = (d.owner_id, d.mode, d.transaction_id)
          and (i.owner_id, i.mode, i.id) = (t.owner_id, t.mode, t.intent_id);

      -- A dispute finds the payment at the network by its transaction.
      create index card_authorizations_of_transaction on card_authorizations (owner_id, mode, transaction_id)
        where transaction_id is not null;

      -- Of a file, the picture that was made anew of it. What came before is looked at where it is shown.
      alter table evidence add column view_sha256 text collate "C" check (view_sha256 ~ '^[0-9a-f]{64}$');

      -- The first lines of its text, and when they are compared again with what was paid by then.
      alter table receipts add column head text not null default '' check (char_length(head) <= 4000);
      alter table receipts alter column head drop default;
      alter table receipts add column look_at timestamptz(3) check (look_at is null or transaction_id is null);
      create index receipts_due on receipts (mode, look_at) where look_at is not null;
    `)
  }
}
