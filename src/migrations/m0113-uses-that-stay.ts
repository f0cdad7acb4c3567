import { Migration } from '@mikro-orm/migrations'

/** A payment stays a use of its limits, also where all of its money has come back: until now that was told by the amount. */
export class UsesThatStay extends Migration {
  override up(): void {
    this.addSql(`
      alter table reservations add column made boolean not null default false;
      update reservations set made = true where spent_cents > 0;
    `)
  }
}
