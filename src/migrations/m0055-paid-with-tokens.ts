import { Migration } from '@mikro-orm/migrations'

/** With which token a transfer was paid, where that has a budget which the intent has not been counted towards. */
export class PaidWithTokens extends Migration {
  override up(): void {
    this.addSql(`
      alter table transfers add column token_id text;
      create index transfers_by_token on transfers (owner_id, mode, token_id) where token_id is not null;
      create index events_by_delegation on events (owner_id, mode, (data ->> 'delegationId'), id)
        where (data ->> 'delegationId') is not null;
    `)
  }
}
