import { describe, expect, test } from '@jest/globals'
import { intentOf, intentsIn } from '../../support/control/intents.ts'
import {
  aDeletedAgent,
  aKey,
  aLiveClient,
  anAgent,
  anIntent,
  bodyOf,
  type TestClient,
} from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'
import { traceOf } from '../../support/trace.ts'

const service = await startTestService({ own: true })
const { eventsOf, asAgent, anOwnerWithAgent } = intentsIn(service)

describe('a new intent', () => {
  test.each([
    ['nothing to pay', { amountEuros: 0 }, 'amountEuros'],
    ['a negative amount', { amountEuros: -1 }, 'amountEuros'],
    ['three decimals', { amountEuros: 1.005 }, 'amountEuros'],
    ['more than there is', { amountEuros: 100_000_000_000.01 }, 'amountEuros'],
    ['an amount out of all bounds', { amountEuros: 1e300 }, 'amountEuros'],
    ['an amount as text', { amountEuros: '25' }, 'amountEuros'],
    ['no amount', { amountEuros: undefined }, 'amountEuros'],
    ['no agent', { agentId: undefined }, 'agentId'],
    ['no merchant', { merchant: undefined }, 'merchant'],
    ['an empty merchant', { merchant: ' ' }, 'merchant'],
    ['a long merchant', { merchant: 'm'.repeat(201) }, 'merchant'],
    ['an empty purpose', { purpose: '' }, 'purpose'],
    ['a long purpose', { purpose: 'p'.repeat(1_001) }, 'purpose'],
    ['a code with letters', { mcc: '59x2' }, 'mcc'],
    ['a code as a number', { mcc: 5942 }, 'mcc'],
    ['a country in small letters', { country: 'de' }, 'country'],
    ['no time at all', { expiresInMinutes: 0 }, 'expiresInMinutes'],
    ['more than a month', { expiresInMinutes: 43_201 }, 'expiresInMinutes'],
    ['half a minute', { expiresInMinutes: 0.5 }, 'expiresInMinutes'],
    ['an empty name of its own', { clientIntentId: '' }, 'clientIntentId'],
    ['numbers as metadata', { metadata: { a: 1 } }, 'metadata'],
    ['a status', { status: 'approved' }, 'status'],
    ['the number of a card as purpose', { purpose: 'Pay by 4242 4242 4242 4242' }, 'purpose'],
    ['the number of a card in metadata', { metadata: { a: '4242424242424242' } }, 'metadata'],
    ['the number of a card as a name in metadata', { metadata: { '4242-4242-4242-4242': 'a' } }, 'metadata'],
    ['NUL in a text', { purpose: 'a\u0000b' }, 'purpose'],
  ])('is refused with %s', async (_, invalid, field) => {
    const { client, key, agent } = await anOwnerWithAgent()
    const right = { agentId: agent.id, amountEuros: 25, merchant: 'Bookshop', purpose: 'P' }
    const answer = await service.http('POST', '/intents', { token: key, body: { ...right, ...invalid } })
    expect(answer.status).toBe(400)
    expect(answer.body).toEqual({ error: expect.stringContaining(field) })
    expect((await client.intents.list()).body.data).toEqual([])
  })

  test.each([
    ['approve', { reason: 'Go ahead' }, 'approved'],
    ['cancel', { reason: 'Too late' }, 'cancelled'],
    ['deny', { comment: 'Too expensive' }, 'denied'],
  ])('takes the text of %s also by the name that another decision has for it', async (verb, body, status) => {
    const { client, key, agent } = await anOwnerWithAgent()
    const { id } = await anIntent(client, agent.id)
    expect((await service.http('POST', `/intents/${id}/${verb}`, { token: key, body })).status).toBe(200)
    const [comment] = Object.values(body)
    expect(await intentOf(client, id)).toMatchObject({ status, comment })
  })

  test('is refused with both names of the text of a decision', async () => {
    const { client, key, agent } = await anOwnerWithAgent()
    const { id } = await anIntent(client, agent.id)
    const body = { comment: 'Go ahead', reason: 'Go' }
    const answer = await service.http('POST', `/intents/${id}/approve`, { token: key, body })
    expect([answer.status, answer.body.error]).toEqual([400, 'reason: unknown field, did you mean comment?'])
    expect(await intentOf(client, id)).toMatchObject({ status: 'created', comment: null })
  })

  test('is refused while the agent is frozen', async () => {
    const { client, agent } = await anOwnerWithAgent({ autoApproveLimitEuros: 50 })
    const params = { id: agent.id }
    const body = { agentId: agent.id, amountEuros: 25, merchant: 'Bookshop', purpose: 'P' }
    await bodyOf(client.agents.freeze({ params }))
    const answer = await client.intents.create({ body })
    expect(answer).toMatchObject({ status: 400, code: 'agent_not_active' })
    expect(await traceOf(service, answer)).toMatchObject({ events: [], entries: 0 })
    await bodyOf(client.agents.unfreeze({ params }))
    expect((await client.intents.create({ body })).status).toBe(201)
  })

  test('is refused for an agent that is deleted, another owner’s or of the other mode', async () => {
    const owner = await anOwnerWithAgent()
    const { client } = owner
    const deleted = await aDeletedAgent(client)
    const stranger = await anOwnerWithAgent()
    const live = await aLiveClient(service, owner)
    const declare = (by: TestClient, agentId: string) =>
      by.intents.create({ body: { agentId, amountEuros: 1, merchant: 'M', purpose: 'P' } })
    const answers = [
      await declare(client, 'agent_1'),
      await declare(client, deleted.id),
      await declare(client, stranger.agent.id),
      await declare(live, owner.agent.id),
      await declare(client, (await anAgent(live)).id),
    ]
    for (const answer of answers) expect(answer).toMatchObject({ status: 404, code: 'agent_not_found' })
    expect((await client.intents.list()).body.data).toEqual([])
  })

  test('has a `clientIntentId` that is unique for the agent', async () => {
    const { client, agent } = await anOwnerWithAgent()
    const other = await anAgent(client)
    const members = { clientIntentId: 'order-17' }
    await anIntent(client, agent.id, members)
    const body = { agentId: agent.id, amountEuros: 1, merchant: 'M', purpose: 'P', ...members }
    const again = await client.intents.create({ body })
    expect(again).toMatchObject({ status: 409, code: 'client_intent_id_taken' })
    expect(again.error).toContain('clientIntentId')
    expect((await anIntent(client, other.id, members)).clientIntentId).toBe('order-17')
    const stranger = await anOwnerWithAgent()
    expect((await anIntent(stranger.client, stranger.agent.id, members)).clientIntentId).toBe('order-17')
  })
})

describe('the token of an agent', () => {
  test('declares for its own agent, and for no other', async () => {
    const { client, agent } = await anOwnerWithAgent({ autoApproveLimitEuros: 50 })
    const tokenClient = await asAgent(client, agent.id)
    const answer = await tokenClient.intents.create({
      body: { agentId: agent.id, amountEuros: 25, merchant: 'Bookshop', purpose: 'P' },
    })
    expect(answer).toMatchObject({ status: 201, body: { status: 'approved', agentId: agent.id } })
    const [entry] = (await bodyOf(client.audit.list({ query: { resource: answer.body.id } }))).data
    expect(entry).toMatchObject({ actorType: 'agent', action: 'intents.create', agentId: agent.id })
    const other = await anAgent(client)
    const refused = await tokenClient.intents.create({
      body: { agentId: other.id, amountEuros: 25, merchant: 'Bookshop', purpose: 'P' },
    })
    expect(refused).toMatchObject({ status: 404, code: 'agent_not_found' })
  })

  test('reads and cancels only its own agent’s intents', async () => {
    const { client, agent } = await anOwnerWithAgent()
    const tokenClient = await asAgent(client, agent.id)
    const [own, other] = [
      await anIntent(client, agent.id),
      await anIntent(client, (await anAgent(client)).id),
    ]
    expect((await bodyOf(tokenClient.intents.list())).data).toEqual([own])
    expect((await bodyOf(tokenClient.intents.list({ query: { agentId: other.agentId } }))).data).toEqual([])
    expect(await intentOf(tokenClient, own.id)).toEqual(own)
    const params = { id: other.id }
    const answers = [
      await tokenClient.intents.get({ params }),
      await tokenClient.intents.cancel({ params }),
      await tokenClient.intents.timeline({ params }),
    ]
    for (const answer of answers) expect(answer).toMatchObject({ status: 404, code: 'intent_not_found' })
    expect((await tokenClient.intents.cancel({ params: { id: own.id } })).body.status).toBe('cancelled')
    expect((await bodyOf(tokenClient.intents.timeline({ params: { id: own.id } }))).data).toHaveLength(2)
  })

  test('cannot approve or deny', async () => {
    const { client, key, agent } = await anOwnerWithAgent()
    const tokenClient = await asAgent(client, agent.id)
    const params = { id: (await anIntent(client, agent.id)).id }
    const answers = [
      await tokenClient.intents.approve({ params }),
      await tokenClient.intents.deny({ params, body: { reason: 'No' } }),
    ]
    for (const answer of answers) expect(answer.status).toBe(403)
    expect((await intentOf(client, params.id)).status).toBe('created')
    const body = { label: 'Laptop', scopes: ['intents:approve'] }
    const token = await service.http('POST', `/v1/agents/${agent.id}/tokens`, { token: key, body })
    expect(token.status).toBe(400)
  })
})

describe('a key without the scope', () => {
  test('cannot declare or decide', async () => {
    const { client, agent } = await anOwnerWithAgent()
    const params = { id: (await anIntent(client, agent.id)).id }
    const body = { agentId: agent.id, amountEuros: 1, merchant: 'M', purpose: 'P' }
    const reader = service.client(String((await aKey(client, { scopes: ['intents:read'] })).key))
    const writer = service.client(String((await aKey(client, { scopes: ['intents:write'] })).key))
    const answers = [
      await reader.intents.create({ body }),
      await reader.intents.cancel({ params }),
      await writer.intents.approve({ params }),
      await writer.intents.deny({ params, body: { reason: 'No' } }),
      await writer.intents.get({ params }),
      await writer.intents.list(),
      await writer.intents.timeline({ params }),
    ]
    for (const answer of answers) expect(answer).toMatchObject({ status: 403, code: 'missing_scope' })
  })
})

describe('an intent of another owner or mode, or of none', () => {
  test('is not found by any operation', async () => {
    const owner = await anOwnerWithAgent()
    const stranger = await anOwnerWithAgent()
    const live = await aLiveClient(service, owner)
    const ids: [TestClient, string][] = [
      [owner.client, 'intent_1'],
      [owner.client, owner.agent.id],
      [stranger.client, (await anIntent(owner.client, owner.agent.id)).id],
      [live, (await anIntent(owner.client, owner.agent.id)).id],
    ]
    for (const [{ intents }, id] of ids) {
      const params = { id }
      const answers = [
        await intents.get({ params }),
        await intents.approve({ params }),
        await intents.deny({ params, body: { reason: 'No' } }),
        await intents.cancel({ params }),
        await intents.timeline({ params }),
      ]
      for (const answer of answers) expect(answer).toMatchObject({ status: 404, code: 'intent_not_found' })
    }
    expect((await bodyOf(owner.client.intents.list({ query: { status: 'created' } }))).data).toHaveLength(2)
  })
})

describe('an idempotency key', () => {
  test('replays a declaration and a decision', async () => {
    const { client, agent } = await anOwnerWithAgent({ autoApproveLimitEuros: 10 })
    const body = { agentId: agent.id, amountEuros: 25, merchant: 'Bookshop', purpose: 'P' }
    const create = () => client.intents.create({ body, idempotencyKey: 'declare' })
    const first = await create()
    const params = { id: first.body.id }
    const approve = () => client.intents.approve({ params, idempotencyKey: 'decide' })
    const approved = await approve()
    for (const [original, replayed] of [
      [first, await create()],
      [approved, await approve()],
    ] as const) {
      expect(replayed).toMatchObject({ status: original.status, body: original.body })
      expect(replayed.headers.get('idempotent-replayed')).toBe('true')
    }
    expect((await bodyOf(client.intents.list())).data).toHaveLength(1)
    expect(await eventsOf(params.id)).toHaveLength(2)
  })

  test('replays a refusal, and is refused with another body', async () => {
    const { client, agent } = await anOwnerWithAgent()
    const body = { agentId: agent.id, amountEuros: 25, merchant: 'Bookshop', purpose: 'P' }
    await bodyOf(client.agents.freeze({ params: { id: agent.id } }))
    const declare = (amountEuros = 25) =>
      client.intents.create({ body: { ...body, amountEuros }, idempotencyKey: 'same' })
    expect((await declare()).code).toBe('agent_not_active')
    await bodyOf(client.agents.unfreeze({ params: { id: agent.id } }))
    expect(await declare()).toMatchObject({ status: 400, code: 'agent_not_active' })
    expect(await declare(26)).toMatchObject({ status: 422, code: 'idempotency_key_reused' })
  })
})
