import { Migration } from '@mikro-orm/migrations'

/** With which key a key was made: of those that are there already nobody knows. */
export class KeyMakers extends Migration {
  override up(): void {
    this.addSql(`
      alter table keys add column made_by_id text;
      create index keys_by_maker on keys (owner_id, mode, made_by_id, id) where made_by_id is not null;
    `)
  }
}
