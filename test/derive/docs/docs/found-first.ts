/** Searches in `/docs`, each with the address of its expected first result. */
export const FOUND_FIRST: readonly (readonly [words: string, address: string])[] = [
  ['dailyLimitEuros', '/docs/policies#policies.create'],
  ['401', '/docs/errors/unauthenticated'],
  ['429', '/docs/errors/rate_limited'],
  ['webhook retry', '/docs/guides/webhook-delivery#retries'],
  ['verify webhook', '/docs/guides/webhooks#verify-the-signature'],
  ['rate limit', '/docs#rate-limits'],
  ['intent', '/docs/intents#intents'],
  ['mandate', '/docs/mandates#mandates'],
  ['freeze agent', '/docs/agents#agents.freeze'],
  ['approve on a phone', '/docs/guides/approvals#on-a-page-with-a-passkey'],
  ['intent.approved', '/docs/event-types#on.intent.approved'],
  ['python', '/docs/guides/packages'],
  ['DATABASE_URL', '/docs/guides/settings#DATABASE_URL'],
]
