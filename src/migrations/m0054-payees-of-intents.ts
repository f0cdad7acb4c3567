import { Migration } from '@mikro-orm/migrations'

/** Whom an intent was approved for: of those that were declared before, only the name is known. */
export class PayeesOfIntents extends Migration {
  override up(): void {
    this.addSql('alter table intents add column payee_iban text')
  }
}
