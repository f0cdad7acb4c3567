import { exampleOf, type Known } from './example.ts'
import type { JsonSchema, Schemas } from './types.ts'

/** Example values of members that many events have. */
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

/** The status after an event whose verb is not the status itself. */
const STATES: Readonly<Record<string, string>> = {
  unfrozen: 'active',
  redeemed: 'active',
  assigned: 'matched',
  failed: 'rejected',
  reversed: 'settled',
}

/** An example of the event's `data`, with the status that the event implies. */
export function eventExample(event: string, schema: JsonSchema, schemas: Schemas): unknown {
  const verb = event.slice(event.lastIndexOf('.') + 1)
  const states = schema.properties?.status?.enum ?? []
  const status = [verb, STATES[verb]].find(state => states.includes(state))
  return exampleOf(schema, schemas, status === undefined ? WORDS : { ...WORDS, status })
}
