import { describe, expect, test } from '@jest/globals'
import { z } from 'zod'
import { areas } from '../../../src/areas.ts'
import { eventTypesOf } from '../../../src/derive/openapi/event-types.ts'
import { eventDeclarations, eventSchemas } from '../../../src/kernel/contract/event-types.ts'

/** The event catalogue of the specification. */
const CATALOGUE: Readonly<Record<string, string>> = {
  intent: 'created approved denied expired cancelled matched mismatched',
  transaction: 'created updated authorization settlement settled completed declined refunded',
  card: 'issued activated frozen unfrozen closed rotated funded shipped limits_changed details_changed',
  card_limit_request: 'updated',
  wallet: 'created funded credited',
  transfer: 'completed failed split.completed',
  risk: 'agent_frozen review_required alert_created denied velocity_alert geo_impossible',
  agent: 'created frozen unfrozen',
  'claim.request': 'created paid expired cancelled',
  dispute: 'created updated resolved',
  mpp: 'credential.minted credential.consumed credential.expired transaction.completed',
  verification: 'mismatch',
  mobile_wallet: 'updated',
  payment: 'updated',
  receipt: 'updated',
  bill: 'updated',
  cardholder: 'updated',
}

const types = new Map(eventTypesOf(areas).map(type => [type.event, type]))

test('every event of the contract can be subscribed to', () => {
  const names = Object.entries(CATALOGUE).flatMap(([noun, verbs]) =>
    verbs.split(' ').map(verb => `${noun}.${verb}`),
  )
  expect(names.filter(name => !types.has(name))).toEqual([])
})

test('an event has one schema, whichever operation emits it', () => {
  const formOf = (schema: z.ZodType) => JSON.stringify(z.toJSONSchema(schema, { io: 'input' }))
  const declared = eventDeclarations(areas).flatMap(events => Object.entries(events))
  const published = new Map([...eventSchemas(areas)].map(([event, schema]) => [event, formOf(schema)]))
  for (const [event, schema] of declared)
    expect([event, formOf(schema)]).toEqual([event, published.get(event)])
})

test('a completed transaction has the schema of the contract', () => {
  const { schema, example } = types.get('transaction.completed') ?? {}
  const members = ['transactionId', 'agentId', 'intentId', 'amountEuros', 'merchant', 'status']
  expect(Object.keys((schema?.properties ?? {}) as object)).toEqual(members)
  expect(schema?.required).toEqual(members)
  expect(example).toMatchObject({
    amountEuros: expect.any(Number),
    merchant: 'Bookshop',
    status: 'completed',
  })
})

describe('the example', () => {
  test.each([
    ['agent.frozen', 'frozen'],
    ['agent.unfrozen', 'active'],
    ['intent.denied', 'denied'],
    ['transaction.declined', 'declined'],
    ['transfer.failed', 'rejected'],
    ['wallet.closed', 'closed'],
    ['webhook.disabled', 'disabled'],
  ])('of %s has the status %s', (event, status) => {
    expect(types.get(event)?.example.status).toBe(status)
  })

  test('of every event fits its schema', () => {
    for (const { event, schema, example } of types.values())
      expect({ event, error: z.fromJSONSchema(schema).safeParse(example).error }).toEqual({ event })
  })
})
