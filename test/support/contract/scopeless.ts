import { allScopeNames } from '../../../src/kernel/contract/scopes.ts'
import { memoizeBounded } from '../../../src/values/bounded-cache.ts'
import { aKey, aToken, type TestClient } from '../factories.ts'

const scopesBut = (scope: string) => allScopeNames.filter(name => name !== scope)

/** Credentials that lack one scope: one serves all operations of that scope. */
export const credentialsWithout = (client: TestClient, agentId: string) => ({
  keyWithout: memoizeBounded(async scope => String((await aKey(client, { scopes: scopesBut(scope) })).key)),
  /** An agent's token with a few permitted scopes, but not this one. */
  tokenWithout: memoizeBounded(async scope => {
    const readable = scopesBut(scope).filter(
      name => name.endsWith(':read') && /^(agents|policies|events|tokens)/.test(name),
    )
    return String((await aToken(client, agentId, { scopes: readable })).token)
  }),
})
