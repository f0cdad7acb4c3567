import { Migration } from '@mikro-orm/migrations'

/** Receipts by the VAT number on them: whose it is, is told by those that were matched before. */
export class ReceiptsByVatNumber extends Migration {
  override up(): void {
    this.addSql(`
      create index receipts_by_vat_number on receipts (owner_id, mode, (facts ->> 'vatNumber'), id)
        where status = 'matched' and facts ->> 'total' is not null;
    `)
  }
}
