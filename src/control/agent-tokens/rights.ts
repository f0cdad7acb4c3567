import { currentHolders } from '../../identity/keys/index.ts'
import type { Actor } from '../../kernel/contract/actor.ts'
import type { SqlContext } from '../../kernel/contract/context.ts'
import type { Scope } from '../../kernel/contract/scopes.ts'

/** A connected assistant renews its token, which keeps its id, so that the token’s expiry is not the end of its rights. */
const TOKENS = `
select s.owner_id, s.id, s.scopes, null::text as role from agent_tokens s
where (s.owner_id, s.mode) = ($3, $4) and s.id = any($1::text[]) and s.revoked_at is null
  and (s.expires_at is null or s.expires_at > $2::timestamptz or s.only_at is not null)`

/**
 * Finds the ids of those who still have the scope, of the actors who once asked for something: a key or token may be
 * revoked since, an assistant disconnected, a person removed, or the owner suspended.
 */
export async function actorsWithScope(
  scope: Scope,
  actors: readonly Actor[],
  context: SqlContext,
): Promise<ReadonlySet<string>> {
  const ids = [...new Set(actors.flatMap(({ id }) => id ?? []))]
  const holders = await currentHolders(ids, TOKENS, context)
  return new Set(holders.filter(({ scopes }) => scopes.has(scope)).map(({ id }) => id))
}
