/** Searches for names and codes, each with the address of its expected first result. */
export const FOUND_FIRST: readonly (readonly [query: string, address: string])[] = [
  ['dailyLimitEuros', '/docs/api/policies.create'],
  ['401', '/docs/errors/unauthenticated'],
  ['429', '/docs/errors/rate_limited'],
  ['verify webhook', '/docs/guides/webhooks#verify-the-signature'],
  ['intent', '/docs/intents'],
  ['intent.approved', '/docs/event-types#on.intent.approved'],
  ['DATABASE_URL', '/docs/guides/settings#DATABASE_URL'],
  ['agent_not_found', '/docs/errors/agent_not_found'],
]
