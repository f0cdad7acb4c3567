import { Migration } from '@mikro-orm/migrations'

/** Tokens of agents that work only with a proof of the agent's key. */
export class BoundTokens extends Migration {
  override up(): void {
    this.addSql(`
      alter table agent_tokens
        -- The thumbprint (RFC 7638) of the key that signs a proof of possession for each request (RFC 9449).
        add column bound_to text check (bound_to ~ '^[A-Za-z0-9_-]{43}$');
    `)
  }
}
