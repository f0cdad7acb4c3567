import { Migration } from '@mikro-orm/migrations'

/** The client behind the address of a terminal that asks: of those that wait, it has a few. A version before names none. */
export class WaitingTerminals extends Migration {
  override up(): void {
    this.addSql(`
      alter table cli_pairings add column client text not null default '';
      create index cli_pairings_that_wait on cli_pairings (owner_id, mode, client) where status = 'pending';
    `)
  }
}
