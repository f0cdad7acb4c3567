import { Migration } from '@mikro-orm/migrations'

/** A transaction that has made very many payments at once is counted in parts. */
export class SpendByParts extends Migration {
  override up(): void {
    this.addSql(`
      -- What of the transaction at the position is in the sums already: events and refunds up to these ids.
      alter table spend_position
        add column event_id text collate "C" not null default '',
        add column refund_id bigint not null default 0;

      create index transaction_refunds_by_commit_and_id on transaction_refunds (written_in, id);
      create index transaction_refunds_of_tenant_by_commit_and_id on transaction_refunds (owner_id, mode, written_in, id);
      drop index transaction_refunds_by_commit, transaction_refunds_of_tenant_by_commit;
    `)
  }
}
