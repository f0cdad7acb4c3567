/** What is looked for in the search of `/docs`, and the address that is to stand first. */
export const FOUND_FIRST: readonly (readonly [words: string, address: string])[] = [
  ['dailyLimitEuros', '/docs/policies#policies.create'],
  ['401', '/docs/errors/unauthenticated'],
  ['429', '/docs/errors/rate_limited'],
  ['webhook retry', '/docs/guides/webhook-delivery#retries'],
  ['verify webhook', '/docs/guides/webhooks#verify-without-the-package'],
  ['rate limit', '/docs#rate-limits'],
  ['intent', '/docs/intents#intents'],
  ['mandate', '/docs/guides/mandates'],
  ['freeze agent', '/docs/agents#agents.freeze'],
  ['approve on a phone', '/docs/guides/console#on-a-phone'],
  ['intent.approved', '/docs/event-types#on.intent.approved'],
  ['python', '/docs/guides/packages'],
  ['DATABASE_URL', '/docs/guides/settings#DATABASE_URL'],
]
