import { Migration } from '@mikro-orm/migrations'

/** Wrong signatures are counted by who sends them: `failures` is there for processes of the version before. */
export class PasskeysWithoutFailures extends Migration {
  override up(): void {
    this.addSql(`alter table passkeys alter column failures set default 0;`)
  }
}
