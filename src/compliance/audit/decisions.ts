/** The operations that decide about what waits for a person. */
const actions = [
  'intents.approve',
  'intents.deny',
  'cardRequests.approve',
  'cardRequests.deny',
  'transfers.confirmPayee',
] as const

export type DecidingAction = (typeof actions)[number]

/** The events that tell a decision. The same request may write others, such as that of the passkey that has signed it. */
const events = ['intent.approved', 'intent.denied', 'card_limit_request.updated', 'payment.updated'] as const

const inList = (column: string, names: readonly string[]): string =>
  `${column} in (${names.map(name => `'${name}'`).join(', ')})`

/**
 * SQL: the entries of decisions. The names stand in the text, as they do in the index `events_of_decisions`: of parameters
 * PostgreSQL would not know that only its rows are meant.
 */
export const OF_DECISIONS = `${inList('action', actions)} and ${inList('event', events)}`
