import { beforeEach, describe, expect, test } from '@jest/globals'
import { areas } from '../../src/areas.ts'
import { PolicyCreate } from '../../src/control/rules/rules.ts'
import { statusCounts, times } from '../support/at-once.ts'
import { clientAt } from '../support/client.ts'
import { startEngine } from '../support/engine.ts'
import { anAgent, anAgentUnder, anIntent, bodyOf, type TestClient } from '../support/factories.ts'
import { startTestService } from '../support/harness.ts'

const service = await startTestService({ own: true })
const secondUrl = await service.another()
const engine = await startEngine(areas)

async function anOwnerWithAgent(autoApproveLimitEuros: number | null = null) {
  const owner = await service.owner()
  const agent = await anAgentUnder(owner.client, { autoApproveLimitEuros })
  const clients = [owner.client, clientAt({ url: secondUrl, token: owner.key })] as const
  return { ...owner, agent, clients, anyClient: (index: number) => clients[index % 2] as TestClient }
}

const statusOf = async ({ intents }: TestClient, id: string): Promise<string> =>
  (await bodyOf(intents.get({ params: { id } }))).status

const eventsWithAudit = async (intentId: string): Promise<string[]> => {
  const rows = await service.sql<{ event: string }>(
    `select event from events where data ->> 'intentId' = $1 and resource_id = $1 order by id`,
    [intentId],
  )
  return rows.map(({ event }) => event)
}

const OPTIONAL = ['mcc', 'country', 'beneficiaryId', 'walletId', 'requestId', 'cardId', 'runId']

describe('a hundred intents at once', () => {
  test('are each stored once, with their events', async () => {
    const { ownerId, agent, anyClient } = await anOwnerWithAgent(50)
    const answers = await times(100, index =>
      anyClient(index).intents.create({
        body: { agentId: agent.id, amountEuros: index + 1, merchant: `Shop ${index}`, purpose: 'P' },
      }),
    )
    expect(statusCounts(answers)).toEqual({ 201: 100 })
    answers.forEach(({ body }, index) => {
      expect(body).toMatchObject({ amountEuros: index + 1, merchant: `Shop ${index}` })
      expect(body.status).toBe(index < 50 ? 'approved' : 'created')
    })
    const [counts] = await service.sql(
      `select count(*)::int as intents,
        (select count(*)::int from events where owner_id = $1 and event = 'intent.created') as created,
        (select count(*)::int from events where owner_id = $1 and event = 'intent.approved') as approved,
        (select count(*)::int from events where owner_id = $1 and event like 'intent.%' and action = 'intents.create') as audit,
        (select count(*)::int from outbox where owner_id = $1) as waiting
       from intents where owner_id = $1`,
      [ownerId],
    )
    expect(counts).toEqual({ intents: 100, created: 100, approved: 50, audit: 150, waiting: 50 })
  })

  test('take one `clientIntentId` once', async () => {
    const { agent, anyClient, client: ownClient } = await anOwnerWithAgent()
    const answers = await times(40, index =>
      anyClient(index).intents.create({
        body: {
          agentId: agent.id,
          amountEuros: 1,
          merchant: 'M',
          purpose: 'P',
          clientIntentId: `n${index % 4}`,
        },
      }),
    )
    expect(statusCounts(answers)).toEqual({ 201: 4, 409: 36 })
    expect((await bodyOf(ownClient.intents.list())).data).toHaveLength(4)
  })

  test('are decided each by its own agent: missing, frozen or active', async () => {
    const { agent, anyClient, client: ownClient } = await anOwnerWithAgent(50)
    const frozen = await anAgent(ownClient)
    await bodyOf(ownClient.agents.freeze({ params: { id: frozen.id } }))
    const agents = [agent.id, 'agent_of_nobody', frozen.id]
    const answers = await times(60, index =>
      anyClient(index).intents.create({
        body: { agentId: String(agents[index % 3]), amountEuros: 1, merchant: 'M', purpose: 'P' },
      }),
    )
    expect(statusCounts(answers)).toEqual({ 201: 20, 400: 20, 404: 20 })
  })

  test('are declared until the agent is frozen, and not after', async () => {
    const { agent, anyClient, client: ownClient } = await anOwnerWithAgent(50)
    const body = { agentId: agent.id, amountEuros: 1, merchant: 'M', purpose: 'P' }
    const [freeze, ...answers] = await Promise.all([
      ownClient.agents.freeze({ params: { id: agent.id } }),
      ...Array.from({ length: 30 }, (_, index) => anyClient(index).intents.create({ body })),
    ])
    expect(freeze.status).toBe(200)
    const { 201: declared = 0, 400: refused = 0 } = statusCounts(answers)
    expect(declared + refused).toBe(30)
    expect((await bodyOf(ownClient.intents.list({ query: { limit: 100 } }))).data).toHaveLength(declared)
    expect((await anyClient(1).intents.create({ body })).code).toBe('agent_not_active')
  })
})

describe('twenty persons at once', () => {
  test('approve an intent once', async () => {
    const { agent, anyClient, client: ownClient } = await anOwnerWithAgent()
    const { id } = await anIntent(ownClient, agent.id)
    const answers = await times(20, index => anyClient(index).intents.approve({ params: { id } }))
    expect(statusCounts(answers)).toEqual({ 200: 1, 400: 19 })
    expect(answers.filter(({ code }) => code === 'intent_not_waiting')).toHaveLength(19)
    expect(await eventsWithAudit(id)).toEqual(['intent.created', 'intent.approved'])
  })

  test('approve many intents, each once', async () => {
    const { agent, anyClient, client: ownClient } = await anOwnerWithAgent()
    const ids = (await times(30, () => anIntent(ownClient, agent.id))).map(({ id }) => id)
    const answers = await times(90, index =>
      anyClient(index).intents.approve({ params: { id: String(ids[index % 30]) } }),
    )
    expect(statusCounts(answers)).toEqual({ 200: 30, 400: 60 })
    for (const id of ids) expect(await eventsWithAudit(id)).toEqual(['intent.created', 'intent.approved'])
  })

  test('approve or deny an intent: the first decision counts', async () => {
    for (let round = 0; round < 10; round++) {
      const { agent, anyClient, client: ownClient } = await anOwnerWithAgent()
      const { id } = await anIntent(ownClient, agent.id)
      const params = { id }
      const answers = await Promise.all([
        anyClient(round).intents.deny({ params, body: { reason: 'No' } }),
        anyClient(round + 1).intents.approve({ params }),
        anyClient(round).intents.approve({ params }),
        anyClient(round + 1).intents.deny({ params, body: { reason: 'No' } }),
      ])
      expect(statusCounts(answers)).toEqual({ 200: 1, 400: 3 })
      const winner = answers.find(({ status }) => status === 200)
      const status = String(winner?.body.status)
      expect(await bodyOf(ownClient.intents.get({ params }))).toEqual(winner?.body)
      expect(await eventsWithAudit(id)).toEqual(['intent.created', `intent.${status}`])
    }
  })

  test('approve and cancel an intent: status and events agree', async () => {
    for (let round = 0; round < 10; round++) {
      const { agent, anyClient, client: ownClient } = await anOwnerWithAgent()
      const { id } = await anIntent(ownClient, agent.id)
      const [approved, cancelled] = await Promise.all([
        anyClient(round).intents.approve({ params: { id } }),
        anyClient(round + 1).intents.cancel({ params: { id } }),
      ])
      expect(cancelled.status).toBe(200)
      expect(await statusOf(ownClient, id)).toBe('cancelled')
      expect(await eventsWithAudit(id)).toEqual([
        'intent.created',
        ...(approved.status === 200 ? ['intent.approved'] : []),
        'intent.cancelled',
      ])
    }
  })
})

describe('the deadline of an intent', () => {
  test('refuses every later approval, to the millisecond, on two processes', async () => {
    const { agent, anyClient, client: ownClient } = await anOwnerWithAgent()
    const ids = (await times(40, () => anIntent(ownClient, agent.id))).map(({ id }) => id)
    await service.sql(
      `update intents set expires_at = now() + interval '3 milliseconds' * (w.place - 5)
       from unnest($1::text[]) with ordinality as w (id, place) where intents.id = w.id`,
      [ids],
    )
    const answers = await times(40, n => anyClient(n).intents.approve({ params: { id: String(ids[n]) } }))
    const inTime = answers.filter(({ status }) => status === 200)
    for (const { body } of inTime) expect(String(body.decidedAt) < body.expiresAt).toBe(true)
    const late = answers.filter(({ status }) => status !== 200)
    expect(late.length).toBeGreaterThan(0)
    for (const { code, error } of late)
      expect(`${code} ${error}`).toMatch(/^intent_(expired|not_waiting .*already expired)/)
  })
})

describe('the round trips to the database', () => {
  let agentId: string
  const tenant = { ownerId: 'customer_1', mode: 'test' } as const
  beforeEach(async () => {
    const { body } = await engine.run(tenant, 'agents.create', {
      body: { name: 'A', description: null, externalId: null, policyId: null, metadata: {} },
    })
    const { id, walletId } = JSON.parse(String(body))
    agentId = id
    await engine.run(tenant, 'fund.wallet', {
      params: { id: walletId },
      body: { amountCents: 1_000_000n, paymentMethodId: null },
    })
    engine.batches.splice(0)
  })

  const noRules = PolicyCreate.parse({ name: 'P' })

  const unset = Object.fromEntries(OPTIONAL.map(name => [name, null]))

  const declare = async (clientIntentId: string | null = null, merchant = 'M'): Promise<string> => {
    const body = { ...unset, agentId, amountCents: 2_500n, merchant, purpose: 'P', clientIntentId }
    const answer = await engine.run(tenant, 'intents.create', {
      body: { ...body, expiresInMinutes: 60, metadata: {} },
    })
    expect(answer.status).toBe(201)
    return JSON.parse(String(answer.body)).id
  }
  const approve = (id: string) =>
    engine.run(tenant, 'intents.approve', { params: { id }, body: { comment: null } })
  const roundTrips = () => new Set(engine.batches.map(batch => batch.roundTrips))
  const sizes = () => engine.batches.map(({ size }) => size).toSorted((a, b) => a - b)

  test('are ten to declare, however many intents are declared', async () => {
    await times(66, () => declare())
    expect(sizes().at(-1)).toBe(64)
    expect(roundTrips()).toEqual(new Set([10]))
  })

  test('are twelve to declare and approve, as counters and ledger are written too', async () => {
    const rules = { name: 'P', autoApproveLimitCents: 100_000n, dailyLimitCents: 10_000_000n }
    const template = await engine.run(tenant, 'policies.create', { body: { ...noRules, ...rules } })
    const body = { policyId: JSON.parse(String(template.body)).id }
    await engine.run(tenant, 'policies.assign', { params: { agentId }, body })
    await times(66, index => declare(null, `Shop ${index}`))
    expect(sizes().at(-1)).toBe(64)
    expect(roundTrips()).toEqual(new Set([12]))
  })

  test('are eleven to declare with a `clientIntentId`', async () => {
    await times(66, index => declare(`name-${index}`))
    expect(roundTrips()).toEqual(new Set([11]))
  })

  test('are fifteen to approve', async () => {
    const ids = await times(66, () => declare())
    engine.batches.splice(0)
    const answers = await times(66, index => approve(String(ids[index])))
    expect(statusCounts(answers)).toEqual({ 200: 66 })
    expect(sizes().at(-1)).toBe(64)
    expect(roundTrips()).toEqual(new Set([15]))
  })
})
