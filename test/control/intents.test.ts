import { describe, expect, test } from '@jest/globals'
import { days, minutes } from '../../src/kernel/clock.ts'
import {
  aDeletedAgent,
  aFundedAgent,
  aKey,
  aLiveClient,
  anAgent,
  anAgentUnder,
  anIntent,
  aPolicy,
  aToken,
  bringMoney,
  made,
  type TestClient,
} from '../support/factories.ts'
import { startHouse } from '../support/harness.ts'
import { traceOf, transactionsOf } from '../support/trace.ts'

const house = await startHouse()

const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

type Rules = Parameters<typeof anAgentUnder>[1]

/** An owner with one agent; under a policy, where there are rules. */
async function anOwner(rules?: Rules) {
  const owner = await house.owner()
  const agent = await (rules ? anAgentUnder(owner.client, rules) : aFundedAgent(owner.client))
  return { ...owner, agent, params: { agentId: agent.id } }
}

const get = (client: TestClient, id: string) => made(client.intents.get({ params: { id } }))

/** The clock of the owner stands so far ahead, and nothing that fell due on the way has happened yet. */
const setClock = (ownerId: string, offset: number) =>
  house.sql(`insert into tenant_clocks values ($1, 'test', $2)`, [ownerId, offset])

/** The events of a record, the oldest first, with all that they say. */
const eventsOf = (intentId: string) =>
  house.sql<{ event: string; data: object; agent_id: string }>(
    `select event, data, agent_id from events where data ->> 'intentId' = $1 order by id`,
    [intentId],
  )

const asAgent = async (client: TestClient, agentId: string): Promise<TestClient> =>
  house.client(String((await aToken(client, agentId)).token))

/** What is unusual about every first payment, and stops none. */
const firstTime = {
  rule: 'risk',
  outcome: 'pass',
  limit: 100,
  used: 10,
  remaining: null,
  message: 'The risk is 10 of 100. The agent has never paid this merchant (10).',
}

describe('a new intent', () => {
  test('of an agent without a policy waits for a person, and is the whole record', async () => {
    const { client, ownerId, agent } = await anOwner()
    const body = { agentId: agent.id, amountEuros: 25, merchant: 'Bookshop', purpose: 'A paper on caching' }
    const answer = await client.intents.create({ body })
    const message = 'The agent has no policy: a person approves every intent.'
    expect(answer.status).toBe(201)
    expect(answer.body).toEqual({
      id: expect.stringMatching(/^intent_[0-9a-z]{26}$/),
      ownerId,
      mode: 'test',
      ...body,
      status: 'created',
      currency: 'EUR',
      mcc: null,
      country: null,
      beneficiaryId: null,
      walletId: null,
      cardId: null,
      runId: null,
      delegationId: null,
      clientIntentId: null,
      possibleDuplicateOf: null,
      expiresAt: new Date(Date.parse(answer.body.createdAt) + days(1)).toISOString(),
      decidedAt: null,
      decidedBy: null,
      comment: null,
      decision: {
        id: expect.stringMatching(/^decision_[0-9a-z]{26}$/),
        allowed: true,
        requiresApproval: true,
        reason: message,
        policyId: null,
        policyVersion: null,
        riskScore: 10,
        checks: [
          firstTime,
          {
            rule: 'autoApproveLimitEuros',
            outcome: 'review',
            limit: null,
            used: 25,
            remaining: null,
            message,
          },
        ],
      },
      transactionId: null,
      workflowId: `intent/${answer.body.id}`,
      metadata: {},
      createdAt: expect.stringMatching(INSTANT),
      updatedAt: answer.body.createdAt,
    })
    expect(await get(client, answer.body.id)).toEqual(answer.body)
  })

  test('within the limit is approved at once by the policy, and nothing waits for it', async () => {
    const { client, agent } = await anOwner({ autoApproveLimitEuros: 50 })
    const intent = await anIntent(client, agent.id, { amountEuros: 25 })
    const message = '€ 25.00 is within the limit of € 50.00 up to which no person is asked.'
    expect(intent).toMatchObject({
      status: 'approved',
      decidedAt: intent.createdAt,
      decidedBy: { type: 'policy', id: agent.policyId, name: null },
      comment: null,
      workflowId: null,
      decision: {
        allowed: true,
        requiresApproval: false,
        reason: message,
        policyId: agent.policyId,
        policyVersion: 1,
        checks: [
          firstTime,
          { rule: 'autoApproveLimitEuros', outcome: 'pass', limit: 50, used: 25, remaining: 25, message },
        ],
      },
    })
    expect(await get(client, intent.id)).toEqual(intent)
    expect(await house.sql('select 1 from outbox where workflow_id = $1', [`intent/${intent.id}`])).toEqual(
      [],
    )
  })

  test.each([
    ['below', 9.99, 10, 'approved'],
    ['at', 10, 10, 'approved'],
    ['a cent above', 10.01, 10, 'created'],
    ['above a limit of nothing', 0.01, 0, 'created'],
    ['under no limit', 0.01, null, 'created'],
    ['the highest of amounts, which nobody has, at', 100_000_000_000, 100_000_000_000, 'denied'],
  ])('%s: %d of %d is %s', async (_, amountEuros, autoApproveLimitEuros, status) => {
    const { client, agent } = await anOwner({ autoApproveLimitEuros })
    expect((await anIntent(client, agent.id, { amountEuros })).status).toBe(status)
  })

  test('waits where the policy asks for a passkey, however small it is', async () => {
    const { client, agent } = await anOwner({ autoApproveLimitEuros: 50, requireAttestation: true })
    const intent = await anIntent(client, agent.id, { amountEuros: 0.01 })
    expect(intent).toMatchObject({
      status: 'created',
      decision: {
        requiresApproval: true,
        reason: 'The policy asks for a passkey: a person approves every intent.',
        checks: [firstTime, { rule: 'requireAttestation', outcome: 'review' }],
      },
    })
  })

  test('is decided by the policy as it is at that moment, and says by which version', async () => {
    const { client, agent, params } = await anOwner({ autoApproveLimitEuros: 50 })
    let shops = 0
    const said = async () => {
      const { status, decision } = await anIntent(client, agent.id, { merchant: `Shop ${++shops}` })
      return [status, decision.policyVersion]
    }
    expect(await said()).toEqual(['approved', 1])
    await made(client.policies.toggle({ params, body: { field: 'requireAttestation', value: true } }))
    expect(await said()).toEqual(['created', 2])
    const tight = await aPolicy(client, { autoApproveLimitEuros: 24.99 })
    await made(client.policies.assign({ params, body: { policyId: tight.id } }))
    expect(await said()).toEqual(['created', 3])
    const wide = await aPolicy(client, { autoApproveLimitEuros: 25 })
    await made(client.policies.assign({ params, body: { policyId: wide.id } }))
    expect(await said()).toEqual(['approved', 4])
  })

  test('keeps all that it was given', async () => {
    const { client, agent } = await anOwner()
    const members = {
      amountEuros: 19.99,
      merchant: 'Größenwahn 🚀',
      purpose: 'a'.repeat(1_000),
      mcc: '5942',
      country: 'DE',
      clientIntentId: 'order 17',
      metadata: { team: 'research' },
    }
    const intent = await anIntent(client, agent.id, members)
    expect(intent).toMatchObject(members)
    expect(await get(client, intent.id)).toEqual(intent)
  })

  test('holds amounts to the cent, however large', async () => {
    const { client, agent } = await anOwner()
    for (const amountEuros of [0.01, 0.29, 1.1, 4_503_599.63, 99_999_999_999.99, 100_000_000_000])
      expect((await get(client, (await anIntent(client, agent.id, { amountEuros })).id)).amountEuros).toBe(
        amountEuros,
      )
  })

  test.each([
    ['after a minute', 1],
    ['after a month', 43_200],
  ])('can end %s', async (_, expiresInMinutes) => {
    const { client, agent } = await anOwner()
    const { createdAt, expiresAt } = await anIntent(client, agent.id, { expiresInMinutes })
    expect(Date.parse(expiresAt) - Date.parse(createdAt)).toBe(minutes(expiresInMinutes))
  })

  test('leaves its events and audit entries in the same transaction', async () => {
    const { client, agent } = await anOwner({ autoApproveLimitEuros: 25 })
    const create = (amountEuros: number) =>
      client.intents.create({ body: { agentId: agent.id, amountEuros, merchant: 'Bookshop', purpose: 'P' } })
    const [waiting, approved] = [await create(26), await create(25)]
    expect(await traceOf(house, waiting)).toEqual({
      events: ['intent.created'],
      actions: ['intents.create'],
      entries: 1,
    })
    expect(await traceOf(house, approved)).toEqual({
      events: ['intent.created', 'intent.approved'],
      actions: ['intents.create'],
      entries: 2,
    })
    for (const answer of [waiting, approved])
      expect(await transactionsOf(house, answer, 'intents', answer.body.id)).toBe(1)
    const data = { intentId: approved.body.id, agentId: agent.id, amountEuros: 25, merchant: 'Bookshop' }
    expect(await eventsOf(approved.body.id)).toEqual([
      { event: 'intent.created', data: { ...data, status: 'created' }, agent_id: agent.id },
      { event: 'intent.approved', data: { ...data, status: 'approved' }, agent_id: agent.id },
    ])
  })

  test('puts its process into the outbox in the same transaction', async () => {
    const { client, ownerId, agent } = await anOwner()
    const { id } = await anIntent(client, agent.id)
    const rows = await house.sql(
      `select o.process, o.input, o.attempts, o.xmin = i.xmin as together
       from outbox o join intents i on i.workflow_id = o.workflow_id where i.id = $1`,
      [id],
    )
    expect(rows).toEqual([
      {
        process: 'intent',
        input: { id, ownerId, mode: 'test', agentId: agent.id },
        attempts: 0,
        together: true,
      },
    ])
  })

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
    ['NUL in a text', { purpose: 'a\u0000b' }, 'purpose'],
  ])('is refused with %s', async (_, wrong, named) => {
    const { client, key, agent } = await anOwner()
    const right = { agentId: agent.id, amountEuros: 25, merchant: 'Bookshop', purpose: 'P' }
    const answer = await house.http('POST', '/intents', { token: key, body: { ...right, ...wrong } })
    expect(answer.status).toBe(400)
    expect(answer.body).toEqual({ error: expect.stringContaining(named) })
    expect((await client.intents.list()).body.data).toEqual([])
  })

  test('is refused for an agent that is frozen, and taken again when it is free', async () => {
    const { client, agent } = await anOwner({ autoApproveLimitEuros: 50 })
    const params = { id: agent.id }
    const body = { agentId: agent.id, amountEuros: 25, merchant: 'Bookshop', purpose: 'P' }
    await made(client.agents.freeze({ params }))
    const answer = await client.intents.create({ body })
    expect(answer).toMatchObject({ status: 400, code: 'agent_not_active' })
    expect(await traceOf(house, answer)).toMatchObject({ events: [], entries: 0 })
    await made(client.agents.unfreeze({ params }))
    expect((await client.intents.create({ body })).status).toBe(201)
  })

  test('is for an agent that is there: not deleted, not another owner’s, not of the other mode', async () => {
    const owner = await anOwner()
    const { client } = owner
    const deleted = await aDeletedAgent(client)
    const stranger = await anOwner()
    const live = await aLiveClient(house, owner)
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

  test('may have a name of the caller’s, which only one intent of the agent has', async () => {
    const { client, agent } = await anOwner()
    const other = await anAgent(client)
    const members = { clientIntentId: 'order-17' }
    await anIntent(client, agent.id, members)
    const body = { agentId: agent.id, amountEuros: 1, merchant: 'M', purpose: 'P', ...members }
    const again = await client.intents.create({ body })
    expect(again).toMatchObject({ status: 409, code: 'client_intent_id_taken' })
    expect(again.error).toContain('clientIntentId')
    expect((await anIntent(client, other.id, members)).clientIntentId).toBe('order-17')
    const stranger = await anOwner()
    expect((await anIntent(stranger.client, stranger.agent.id, members)).clientIntentId).toBe('order-17')
  })
})

describe('an agent’s token', () => {
  test('declares for its own agent, and for no other', async () => {
    const { client, agent } = await anOwner({ autoApproveLimitEuros: 50 })
    const itself = await asAgent(client, agent.id)
    const answer = await itself.intents.create({
      body: { agentId: agent.id, amountEuros: 25, merchant: 'Bookshop', purpose: 'P' },
    })
    expect(answer).toMatchObject({ status: 201, body: { status: 'approved', agentId: agent.id } })
    const [entry] = (await made(client.audit.list({ query: { resource: answer.body.id } }))).data
    expect(entry).toMatchObject({ actorType: 'agent', action: 'intents.create', agentId: agent.id })
    const other = await anAgent(client)
    const refused = await itself.intents.create({
      body: { agentId: other.id, amountEuros: 25, merchant: 'Bookshop', purpose: 'P' },
    })
    expect(refused).toMatchObject({ status: 404, code: 'agent_not_found' })
  })

  test('sees, cancels and follows its own intents only', async () => {
    const { client, agent } = await anOwner()
    const itself = await asAgent(client, agent.id)
    const [own, other] = [
      await anIntent(client, agent.id),
      await anIntent(client, (await anAgent(client)).id),
    ]
    expect((await made(itself.intents.list())).data).toEqual([own])
    expect((await made(itself.intents.list({ query: { agentId: other.agentId } }))).data).toEqual([])
    expect(await get(itself, own.id)).toEqual(own)
    const params = { id: other.id }
    const answers = [
      await itself.intents.get({ params }),
      await itself.intents.cancel({ params }),
      await itself.intents.timeline({ params }),
    ]
    for (const answer of answers) expect(answer).toMatchObject({ status: 404, code: 'intent_not_found' })
    expect((await itself.intents.cancel({ params: { id: own.id } })).body.status).toBe('cancelled')
    expect((await made(itself.intents.timeline({ params: { id: own.id } }))).entries).toHaveLength(2)
  })

  test('decides nothing', async () => {
    const { client, agent } = await anOwner()
    const itself = await asAgent(client, agent.id)
    const params = { id: (await anIntent(client, agent.id)).id }
    const answers = [
      await itself.intents.approve({ params }),
      await itself.intents.deny({ params, body: { reason: 'No' } }),
    ]
    for (const answer of answers) expect(answer.status).toBe(403)
    expect((await get(client, params.id)).status).toBe('created')
    const body = { label: 'Laptop', scopes: ['intents:approve' as const] }
    const token = await client.agentTokens.create({ params: { id: agent.id }, body })
    expect(token).toMatchObject({ status: 400, code: 'scope_never_given' })
  })
})

describe('a key without the scope', () => {
  test('neither declares nor decides', async () => {
    const { client, agent } = await anOwner()
    const params = { id: (await anIntent(client, agent.id)).id }
    const body = { agentId: agent.id, amountEuros: 1, merchant: 'M', purpose: 'P' }
    const reader = house.client(String((await aKey(client, { scopes: ['intents:read'] })).key))
    const writer = house.client(String((await aKey(client, { scopes: ['intents:write'] })).key))
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

describe('a list of intents', () => {
  test('has the newest first, page by page, while more are declared', async () => {
    const { client, agent } = await anOwner()
    const ids: string[] = []
    for (let count = 0; count < 4; count++) ids.unshift((await anIntent(client, agent.id)).id)
    const first = await made(client.intents.list({ query: { limit: 3 } }))
    await anIntent(client, agent.id)
    const cursor = String(first.nextCursor)
    const rest = await made(client.intents.list({ query: { limit: 3, cursor } }))
    expect([...first.data, ...rest.data].map(({ id }) => id)).toEqual(ids)
    expect([first.hasMore, rest.hasMore, rest.nextCursor]).toEqual([true, false, null])
    expect((await client.intents.list({ query: { limit: 3, cursor, status: 'created' } })).code).toBe(
      'invalid_cursor',
    )
  })

  test('is narrowed by what is asked for', async () => {
    const { client, ownerId, agent } = await anOwner({ autoApproveLimitEuros: 10 })
    const early = await anIntent(client, agent.id, { amountEuros: 5, clientIntentId: 'one' })
    await setClock(ownerId, days(2))
    const other = await anAgent(client)
    const late = await anIntent(client, other.id, { amountEuros: 20, merchant: 'Airline' })
    const found = async (query: object) =>
      (await made(client.intents.list({ query }))).data.map(({ id }) => id)
    const between = new Date(Date.parse(early.createdAt) + days(1)).toISOString()
    expect(await found({ status: 'approved' })).toEqual([early.id])
    expect(await found({ status: 'created' })).toEqual([late.id])
    expect(await found({ status: 'denied' })).toEqual([])
    expect(await found({ agentId: agent.id })).toEqual([early.id])
    expect(await found({ merchant: 'Airline' })).toEqual([late.id])
    expect(await found({ merchant: 'air' })).toEqual([])
    expect(await found({ clientIntentId: 'one' })).toEqual([early.id])
    expect(await found({ from: between })).toEqual([late.id])
    expect(await found({ to: between })).toEqual([early.id])
    expect(await found({ from: early.createdAt, to: late.createdAt })).toEqual([early.id])
    expect(await found({ agentId: agent.id, status: 'created' })).toEqual([])
    expect((await client.intents.list({ query: { status: 'lost' as 'created' } })).status).toBe(400)
  })

  test('has nobody else’s', async () => {
    const owner = await anOwner()
    await anIntent(owner.client, owner.agent.id)
    const live = await aLiveClient(house, owner)
    expect((await made((await house.owner()).client.intents.list())).data).toEqual([])
    expect((await made(live.intents.list())).data).toEqual([])
  })
})

describe('approving', () => {
  test('is recorded: by whom, when and why', async () => {
    const { client, agent } = await anOwner()
    const before = await anIntent(client, agent.id)
    const [key] = (await client.keys.list()).body.data
    const params = { id: before.id }
    const answer = await client.intents.approve({ params, body: { comment: ' Go ahead ' } })
    expect(answer.status).toBe(200)
    expect(answer.body).toEqual({
      ...before,
      status: 'approved',
      decidedAt: expect.stringMatching(INSTANT),
      decidedBy: { type: 'key', id: key?.id, name: null },
      comment: 'Go ahead',
      decision: { ...before.decision, id: answer.body.decision.id },
      updatedAt: answer.body.decidedAt,
    })
    expect(answer.body.decision.id).not.toBe(before.decision.id)
    expect(await get(client, before.id)).toEqual(answer.body)
    expect(await traceOf(house, answer)).toEqual({
      events: ['intent.approved'],
      actions: ['intents.approve'],
      entries: 1,
    })
    expect(await transactionsOf(house, answer, 'intents', before.id)).toBe(1)
    expect((await eventsOf(before.id)).at(-1)).toEqual({
      event: 'intent.approved',
      data: {
        intentId: before.id,
        agentId: agent.id,
        status: 'approved',
        amountEuros: 25,
        merchant: 'Bookshop',
        reason: 'Go ahead',
      },
      agent_id: agent.id,
    })
  })

  test('needs no comment, and no body', async () => {
    const { client, key, agent } = await anOwner()
    const { id } = await anIntent(client, agent.id)
    const answer = await house.http('POST', `/intents/${id}/approve`, { token: key })
    expect(answer).toMatchObject({ status: 200, body: { status: 'approved', comment: null } })
  })

  test('happens once', async () => {
    const { client, agent } = await anOwner({ autoApproveLimitEuros: 10 })
    const params = { id: (await anIntent(client, agent.id)).id }
    const approved = await made(client.intents.approve({ params, body: { comment: 'First' } }))
    const again = await client.intents.approve({ params, body: { comment: 'Second' } })
    expect(again).toMatchObject({ status: 400, code: 'intent_not_waiting' })
    expect(again.error).toBe('The intent is approved already.')
    expect(await get(client, params.id)).toEqual(approved)
    const alone = await anIntent(client, agent.id, { amountEuros: 1 })
    const needless = await client.intents.approve({ params: { id: alone.id } })
    expect(needless).toMatchObject({ status: 400, code: 'intent_not_waiting' })
  })

  test('is refused after the deadline, before and after its end has been recorded', async () => {
    const { client, ownerId, agent } = await anOwner()
    const { id } = await anIntent(client, agent.id, { expiresInMinutes: 10 })
    await setClock(ownerId, minutes(10) + 1)
    const late = await client.intents.approve({ params: { id } })
    expect(late).toMatchObject({ status: 400, code: 'intent_expired' })
    expect((await get(client, id)).status).toBe('created')
    await made(client.sandbox.advance({ body: { seconds: 1 } }))
    const later = await client.intents.approve({ params: { id } })
    expect(later).toMatchObject({ status: 400, code: 'intent_not_waiting' })
    expect(later.error).toBe('The intent is expired already.')
  })

  test('is refused while the agent is frozen, and when it is gone', async () => {
    const { client, agent } = await anOwner()
    const params = { id: (await anIntent(client, agent.id)).id }
    await made(client.agents.freeze({ params: { id: agent.id } }))
    expect(await client.intents.approve({ params })).toMatchObject({
      ...{ status: 400, code: 'agent_not_active', error: 'The agent is frozen: it cannot spend.' },
    })
    const told = await made(client.intents.explanation({ params }))
    expect(told.summary).toBe('It waits for a person: The agent is frozen: it cannot spend.')
    expect(told.rules[0]).toMatchObject({
      rule: 'agentStatus',
      outcome: 'fail',
      remedy: 'Unfreeze the agent.',
    })
    await made(client.agents.delete({ params: { id: agent.id } }))
    expect((await client.intents.approve({ params })).error).toBe(
      'The agent is being deleted: it cannot spend.',
    )
    expect((await get(client, params.id)).status).toBe('created')
  })

  test('is refused where the policy asks for a passkey by now', async () => {
    const { client, agent, params } = await anOwner({ autoApproveLimitEuros: 1 })
    const { id } = await anIntent(client, agent.id)
    await made(client.policies.toggle({ params, body: { field: 'requireAttestation', value: true } }))
    expect(await client.intents.approve({ params: { id } })).toMatchObject({
      status: 400,
      code: 'attestation_required',
    })
    await made(client.policies.toggle({ params, body: { field: 'requireAttestation', value: false } }))
    expect((await client.intents.approve({ params: { id } })).status).toBe(200)
  })
})

describe('denying', () => {
  test('needs a reason, and records it', async () => {
    const { client, key, agent } = await anOwner()
    const before = await anIntent(client, agent.id)
    for (const body of [{}, { reason: '' }, { reason: ' ' }, { reason: 7 }, { reason: 'r'.repeat(1_001) }]) {
      const refused = await house.http('POST', `/intents/${before.id}/deny`, { token: key, body })
      expect(refused).toMatchObject({ status: 400, body: { error: expect.stringContaining('reason') } })
    }
    const answer = await client.intents.deny({ params: { id: before.id }, body: { reason: 'Too expensive' } })
    expect(answer.body).toEqual({
      ...before,
      status: 'denied',
      decidedAt: expect.stringMatching(INSTANT),
      decidedBy: { type: 'key', id: expect.stringMatching(/^key_/), name: null },
      comment: 'Too expensive',
      updatedAt: answer.body.decidedAt,
    })
    expect(await get(client, before.id)).toEqual(answer.body)
    expect(await traceOf(house, answer)).toEqual({
      events: ['intent.denied'],
      actions: ['intents.deny'],
      entries: 1,
    })
    expect(await transactionsOf(house, answer, 'intents', before.id)).toBe(1)
    expect((await eventsOf(before.id)).at(-1)).toMatchObject({
      event: 'intent.denied',
      data: { status: 'denied', reason: 'Too expensive' },
    })
  })

  test('passes on no more than an excerpt of a long reason', async () => {
    const { client, agent } = await anOwner()
    const { id } = await anIntent(client, agent.id)
    const reason = 'r'.repeat(1_000)
    expect((await made(client.intents.deny({ params: { id }, body: { reason } }))).comment).toBe(reason)
    const data = (await eventsOf(id)).at(-1)?.data as { reason: string }
    expect(data.reason).toHaveLength(200)
  })

  test('is for what waits only', async () => {
    const { client, ownerId, agent } = await anOwner({ autoApproveLimitEuros: 10 })
    const deny = (id: string) => client.intents.deny({ params: { id }, body: { reason: 'No' } })
    const approved = await anIntent(client, agent.id, { amountEuros: 1 })
    expect(await deny(approved.id)).toMatchObject({ status: 400, code: 'intent_not_waiting' })
    const { id } = await anIntent(client, agent.id)
    await made(deny(id))
    expect((await deny(id)).error).toBe('The intent is denied already.')
    expect((await client.intents.approve({ params: { id } })).code).toBe('intent_not_waiting')
    const late = await anIntent(client, agent.id, { expiresInMinutes: 1 })
    await setClock(ownerId, minutes(1) + 1)
    expect((await deny(late.id)).code).toBe('intent_expired')
  })
})

describe('cancelling', () => {
  test('ends what waits, and what is approved and not yet paid', async () => {
    const { client, agent } = await anOwner({ autoApproveLimitEuros: 10 })
    const waiting = await anIntent(client, agent.id)
    const alone = await anIntent(client, agent.id, { amountEuros: 1 })
    const byHand = await anIntent(client, agent.id)
    await made(client.intents.approve({ params: { id: byHand.id }, body: { comment: 'Yes' } }))
    for (const { id } of [waiting, alone, byHand]) {
      const before = await get(client, id)
      const answer = await client.intents.cancel({ params: { id } })
      expect(answer.body).toEqual({ ...before, status: 'cancelled', updatedAt: expect.any(String) })
      expect(await traceOf(house, answer)).toEqual({
        events: ['intent.cancelled'],
        actions: ['intents.cancel'],
        entries: 1,
      })
      expect(await transactionsOf(house, answer, 'intents', id)).toBe(1)
    }
  })

  test('may be explained: the words take the place of those before', async () => {
    const { client, agent } = await anOwner()
    const [explained, wordless] = [await anIntent(client, agent.id), await anIntent(client, agent.id)]
    for (const { id } of [explained, wordless])
      await made(client.intents.approve({ params: { id }, body: { comment: 'Go ahead' } }))
    const cancel = (id: string, body: object) => made(client.intents.cancel({ params: { id }, body }))
    expect(await cancel(explained.id, { comment: ' Sold out ' })).toMatchObject({
      status: 'cancelled',
      comment: 'Sold out',
    })
    expect((await cancel(wordless.id, {})).comment).toBe('Go ahead')
    expect((await eventsOf(explained.id)).at(-1)?.data).toMatchObject({ reason: 'Sold out' })
  })

  test('is refused when it has ended already', async () => {
    const { client, agent } = await anOwner()
    const ends: Record<string, (id: string) => Promise<unknown>> = {
      cancelled: id => made(client.intents.cancel({ params: { id } })),
      denied: id => made(client.intents.deny({ params: { id }, body: { reason: 'No' } })),
      expired: () => made(client.sandbox.advance({ body: { minutes: 1 } })),
    }
    for (const [status, end] of Object.entries(ends)) {
      const { id } = await anIntent(client, agent.id, { expiresInMinutes: 1 })
      await end(id)
      const answer = await client.intents.cancel({ params: { id } })
      expect(answer).toMatchObject({ status: 400, code: 'intent_closed' })
      expect(answer.error).toBe(`The intent is ${status} already.`)
      expect((await get(client, id)).status).toBe(status)
    }
  })

  test('is refused after the deadline', async () => {
    const { client, ownerId, agent } = await anOwner()
    const { id } = await anIntent(client, agent.id, { expiresInMinutes: 1 })
    await setClock(ownerId, minutes(1) + 1)
    expect((await client.intents.cancel({ params: { id } })).code).toBe('intent_expired')
  })
})

describe('the end of an intent', () => {
  test('is an event of its own, with nobody’s decision', async () => {
    const { client, agent } = await anOwner()
    const before = await anIntent(client, agent.id, { expiresInMinutes: 1 })
    await made(client.sandbox.advance({ body: { minutes: 1 } }))
    expect(await get(client, before.id)).toEqual({
      ...before,
      status: 'expired',
      updatedAt: expect.stringMatching(INSTANT),
    })
    expect((await eventsOf(before.id)).at(-1)).toEqual({
      event: 'intent.expired',
      data: {
        intentId: before.id,
        agentId: agent.id,
        status: 'expired',
        amountEuros: 25,
        merchant: 'Bookshop',
      },
      agent_id: agent.id,
    })
    const [entry] = (await made(client.audit.list({ query: { resource: before.id } }))).data
    expect(entry).toMatchObject({
      actorType: 'process',
      actorId: null,
      action: 'intents.expire',
      event: 'intent.expired',
    })
  })

  test('cannot be asked for', async () => {
    const { client, key, agent } = await anOwner()
    const { id } = await anIntent(client, agent.id)
    for (const [method, path] of [
      ['POST', 'expire'],
      ['GET', 'look'],
    ] as const)
      expect((await house.http(method, `/intents/${id}/${path}`, { token: key })).status).toBe(404)
  })
})

describe('the timeline', () => {
  test('says what happened and who did it, the oldest first', async () => {
    const { client, agent } = await anOwner()
    const itself = await asAgent(client, agent.id)
    const { id } = await anIntent(itself, agent.id)
    const approved = await client.intents.approve({ params: { id } })
    await made(itself.intents.cancel({ params: { id } }))
    const { intentId, entries } = await made(client.intents.timeline({ params: { id } }))
    expect(intentId).toBe(id)
    expect(entries).toMatchObject([
      { event: 'intent.created', actorType: 'agent', actorId: expect.stringMatching(/^token_/) },
      { event: 'intent.approved', actorType: 'key', actorId: expect.stringMatching(/^key_/) },
      { event: 'intent.cancelled', actorType: 'agent', actorId: expect.stringMatching(/^token_/) },
    ])
    expect(entries[1]?.requestId).toBe(approved.headers.get('x-request-id'))
    expect(entries.map(({ at }) => at)).toEqual(entries.map(({ at }) => at).toSorted())
  })

  test('is in the time of the intent itself', async () => {
    const { client, agent } = await anOwner()
    const { id, expiresAt } = await anIntent(client, agent.id, { expiresInMinutes: 60 })
    await made(client.sandbox.advance({ body: { days: 1 } }))
    const { entries } = await made(client.intents.timeline({ params: { id } }))
    expect(entries.map(({ event }) => event)).toEqual(['intent.created', 'intent.expired'])
    const late = Date.parse(String(entries[1]?.at)) - Date.parse(expiresAt)
    expect(late).toBeGreaterThanOrEqual(0)
    expect(late).toBeLessThan(minutes(60))
  })
})

describe('an id of nobody, of another owner, of the other mode', () => {
  test('is found by no operation', async () => {
    const owner = await anOwner()
    const stranger = await anOwner()
    const live = await aLiveClient(house, owner)
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
    expect((await made(owner.client.intents.list({ query: { status: 'created' } }))).data).toHaveLength(2)
  })
})

describe('live money', () => {
  test('is declared and decided with a live key, apart from test mode', async () => {
    const owner = await house.owner()
    const live = await aLiveClient(house, owner)
    const agent = await anAgent(live)
    await bringMoney(house, agent)
    const { id, mode } = await anIntent(live, agent.id)
    expect(mode).toBe('live')
    expect((await made(live.intents.approve({ params: { id } }))).status).toBe('approved')
  })
})

describe('an idempotency key', () => {
  test('replays what was declared, and what was decided', async () => {
    const { client, agent } = await anOwner({ autoApproveLimitEuros: 10 })
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
    expect((await made(client.intents.list())).data).toHaveLength(1)
    expect(await eventsOf(params.id)).toHaveLength(2)
  })

  test('replays a refusal, and refuses another body', async () => {
    const { client, agent } = await anOwner()
    const body = { agentId: agent.id, amountEuros: 25, merchant: 'Bookshop', purpose: 'P' }
    await made(client.agents.freeze({ params: { id: agent.id } }))
    const declare = (amountEuros = 25) =>
      client.intents.create({ body: { ...body, amountEuros }, idempotencyKey: 'same' })
    expect((await declare()).code).toBe('agent_not_active')
    await made(client.agents.unfreeze({ params: { id: agent.id } }))
    expect(await declare()).toMatchObject({ status: 400, code: 'agent_not_active' })
    expect(await declare(26)).toMatchObject({ status: 422, code: 'idempotency_key_reused' })
  })
})
