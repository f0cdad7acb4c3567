import { describe, expect, test } from '@jest/globals'
import { areas } from '../../../src/areas.ts'
import { personalDecision } from '../../../src/control/intents/index.ts'
import type { Actor } from '../../../src/kernel/contract/actor.ts'
import { startEngine } from '../../support/engine.ts'

const engine = await startEngine(areas)
const tenant = { ownerId: 'customer_1', mode: 'test' } as const

const ada: Actor = {
  type: 'console',
  id: 'person_1',
  sessionId: 'consolesession_1',
  name: 'Ada',
  tenant,
  agentId: null,
  scopes: new Set<string>(),
}

const answerOf = async (...call: Parameters<typeof engine.run>) => {
  const { status, errorCode, body } = await engine.run(...call)
  return { status, errorCode, body: JSON.parse(String(body)) }
}

async function aWaitingIntent(): Promise<string> {
  const agent = await answerOf(tenant, 'agents.create', {
    body: { name: 'A', description: null, externalId: null, policyId: null, metadata: {} },
  })
  const body = { amountCents: 2_500n, merchant: 'M', purpose: 'P', agentId: agent.body.id }
  const unset = [
    'mcc',
    'country',
    'beneficiaryId',
    'walletId',
    'requestId',
    'cardId',
    'runId',
    'clientIntentId',
  ]
  const intent = await answerOf(tenant, 'intents.create', {
    body: {
      ...Object.fromEntries(unset.map(name => [name, null])),
      ...body,
      expiresInMinutes: 60,
      metadata: {},
    },
  })
  return intent.body.id
}

describe('the decider of an intent', () => {
  test('is the signer or the person in the console, a key, or an operator by an unverified name', () => {
    const key = { type: 'key', id: 'key_1' } as const
    const person = { type: 'console', id: 'person_1', name: 'Ada' }
    expect(personalDecision(ada)).toEqual(person)
    expect(personalDecision(key, { id: 'person_1', name: 'Ada' })).toEqual(person)
    expect(personalDecision(key)).toEqual({ ...key, name: null })
    expect(personalDecision({ type: 'operator', id: 'Bob' })).toEqual({
      type: 'operator',
      id: null,
      name: 'Bob',
    })
  })

  test('denies in the console without a passkey, and is named by intent, event, timeline and audit trail', async () => {
    const id = await aWaitingIntent()
    const denied = await answerOf(
      tenant,
      'intents.deny',
      { params: { id }, body: { reason: 'No' } },
      { actor: ada },
    )
    expect(denied.body).toMatchObject({
      status: 'denied',
      decidedBy: { type: 'console', id: 'person_1', name: 'Ada' },
    })
    const { rows } = await engine.sql(
      `select data from events where event = 'intent.denied' and resource_id = $1`,
      [id],
    )
    expect(rows).toEqual([{ data: expect.objectContaining({ personId: 'person_1', reason: 'No' }) }])
    const query = { limit: 20 }
    for (const [key, input] of [
      ['intents.timeline', { params: { id }, query }],
      ['audit.list', { query: { ...query, resource: id } }],
    ] as const) {
      const { data } = (await answerOf(tenant, key, input)).body
      const entry = data.find(({ event }: { event: string }) => event === 'intent.denied')
      expect(entry).toMatchObject({ actorType: 'console', actorId: 'person_1', personId: 'person_1' })
      const made = data.find(({ event }: { event: string }) => event === 'intent.created')
      expect(made).toMatchObject({ actorType: 'key', personId: null })
    }
  })

  test('approves nothing in the console without a passkey', async () => {
    const id = await aWaitingIntent()
    const refused = await answerOf(
      tenant,
      'intents.approve',
      { params: { id }, body: { comment: null } },
      { actor: ada },
    )
    expect(refused).toMatchObject({ status: 400, errorCode: 'attestation_required' })
    expect((await answerOf(tenant, 'intents.get', { params: { id } })).body.status).toBe('created')
  })
})
