import { Migration } from '@mikro-orm/migrations'

/** Lists are searched for a merchant in whatever case, as policies compare them. */
export class MerchantsInAnyCase extends Migration {
  override up(): void {
    this.addSql(`
      create index intents_by_folded_merchant on intents (owner_id, mode, lower(merchant collate "pg_c_utf8"), id);
      create index transactions_by_folded_merchant on transactions (owner_id, mode, lower(merchant collate "pg_c_utf8"), id);
      drop index intents_by_merchant;
      drop index transactions_by_merchant;
    `)
  }
}
