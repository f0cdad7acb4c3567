import { Migration } from '@mikro-orm/migrations'

/** A terminal or a device may ask for a key that changes things by the tools of an assistant. A version before never does. */
export class SignInsThatChangeByTools extends Migration {
  override up(): void {
    this.addSql(`
      alter table cli_pairings add column tool_writes boolean not null default false;
      alter table sessions add column tool_writes boolean not null default false;
    `)
  }
}
