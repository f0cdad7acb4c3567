import { Migration } from '@mikro-orm/migrations'

/** What was refused and disputed of a merchant is found without reading what concerns others. */
export class RefusalsByMerchant extends Migration {
  override up(): void {
    this.addSql(`
      create index spend_cells_of_refusals on spend_cells (owner_id, mode, value, day) where view = 'refused:merchant';
      create index disputes_by_merchant on disputes (owner_id, mode, merchant, id);
    `)
  }
}
