import { exampleOf, type Known } from './example.ts'
import type { JsonSchema, Schemas } from './types.ts'

/** What the members of most events could say. */
const WORDS: Known = {
  merchant: 'Bookshop',
  actualMerchant: 'Bookstore',
  name: 'Research',
  label: 'Laptop',
  country: 'DE',
  reason: 'Unusual spending',
  last4: '4242',
  score: 72,
  signal: 'velocity',
  points: 40,
  changed: ['name'],
  messageId: 'MSG-2026-11-20-1',
}

/** In which state something is of which this has just been said, where it is not that very word. */
const STATES: Readonly<Record<string, string>> = {
  unfrozen: 'active',
  redeemed: 'active',
  assigned: 'matched',
  failed: 'rejected',
  reversed: 'settled',
}

/** A `data` of this event, in the state that the event tells of. */
export function eventExample(event: string, schema: JsonSchema, schemas: Schemas): unknown {
  const verb = event.slice(event.lastIndexOf('.') + 1)
  const states = schema.properties?.status?.enum ?? []
  const status = [verb, STATES[verb]].find(state => states.includes(state))
  return exampleOf(schema, schemas, status === undefined ? WORDS : { ...WORDS, status })
}
