import { Migration } from '@mikro-orm/migrations'

/** What was set for one agent alone, and what its template says of that: it outlives the template's next copy. */
export class PolicyOverrides extends Migration {
  override up(): void {
    this.addSql(`alter table policies add column overridden jsonb not null default '{}'`)
  }
}
