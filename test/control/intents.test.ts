import './intents/intent-refusals.ts'
import './intents/intent-decisions.ts'
import './intents/intent-reads.ts'
import './intents/payees.ts'
import './intents/intent-states.ts'
import { describe, expect, test } from '@jest/globals'
import { days, minutes } from '../../src/values/clock.ts'
import { INSTANT, intentOf, intentsIn } from '../support/control/intents.ts'
import { aLiveClient, anAgent, anIntent, aPolicy, bodyOf, creditWallet } from '../support/factories.ts'
import { startTestService } from '../support/harness.ts'
import { traceOf, transactionCount } from '../support/trace.ts'

const service = await startTestService({ own: true })
const { eventsOf, anOwnerWithAgent } = intentsIn(service)

/** The risk of every first payment: below each threshold. */
const firstTime = {
  rule: 'risk',
  outcome: 'pass',
  limit: 100,
  used: 10,
  remaining: null,
  message: 'The risk is 10 of 100. The agent has never paid this merchant (10).',
}
const unpaid = { transactionId: null, payment: null, receiptStatus: null, paymentWaits: false }

describe('a new intent', () => {
  test('waits for a person if its agent has no policy, and is the whole record', async () => {
    const { client, ownerId, agent } = await anOwnerWithAgent()
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
      approval: null,
      decision: {
        id: expect.stringMatching(/^decision_[0-9a-z]{26}$/),
        allowed: true,
        requiresApproval: true,
        reason: message,
        policyId: null,
        policyVersion: null,
        riskScore: 10,
        mandate: null,
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
      ...unpaid,
      requestId: null,
      paymentTokenId: null,
      workflowId: `intent/${answer.body.id}`,
      metadata: {},
      createdAt: expect.stringMatching(INSTANT),
      updatedAt: answer.body.createdAt,
    })
    expect(await intentOf(client, answer.body.id)).toEqual(answer.body)
  })

  test('is approved at once within the limit, and has no process', async () => {
    const { client, agent } = await anOwnerWithAgent({ autoApproveLimitEuros: 50 })
    const intent = await anIntent(client, agent.id, { amountEuros: 25 })
    const message = '€ 25.00 is within the auto-approve limit of € 50.00.'
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
    expect(await intentOf(client, intent.id)).toEqual(intent)
    const runs = await service.sql('select 1 from outbox where workflow_id = $1', [`intent/${intent.id}`])
    expect(runs).toEqual([])
  })

  test.each([
    ['below', 9.99, 10, 'approved'],
    ['at', 10, 10, 'approved'],
    ['a cent above', 10.01, 10, 'created'],
    ['above a limit of nothing', 0.01, 0, 'created'],
    ['under no limit', 0.01, null, 'created'],
    ['the highest of amounts, which nobody has, at', 100_000_000_000, 100_000_000_000, 'denied'],
  ])('%s: %d of %d is %s', async (_, amountEuros, autoApproveLimitEuros, status) => {
    const { client, agent } = await anOwnerWithAgent({ autoApproveLimitEuros })
    expect((await anIntent(client, agent.id, { amountEuros })).status).toBe(status)
  })

  test('waits if the policy asks for a passkey, however small it is', async () => {
    const { client, agent } = await anOwnerWithAgent({ autoApproveLimitEuros: 50, requireAttestation: true })
    const intent = await anIntent(client, agent.id, { amountEuros: 0.01 })
    expect(intent).toMatchObject({
      status: 'created',
      decision: {
        requiresApproval: true,
        reason: 'The policy requires a passkey: a person approves every intent.',
        checks: [firstTime, { rule: 'requireAttestation', outcome: 'review' }],
      },
    })
  })

  test('is decided by the policy’s current version, which it names', async () => {
    const { client, agent, params } = await anOwnerWithAgent({ autoApproveLimitEuros: 50 })
    let shops = 0
    const decide = async () => {
      const { status, decision } = await anIntent(client, agent.id, { merchant: `Shop ${++shops}` })
      return [status, decision.policyVersion]
    }
    expect(await decide()).toEqual(['approved', 1])
    await bodyOf(client.policies.toggle({ params, body: { field: 'requireAttestation', value: true } }))
    expect(await decide()).toEqual(['created', 2])
    const tight = await aPolicy(client, { autoApproveLimitEuros: 24.99 })
    await bodyOf(client.policies.assign({ params, body: { policyId: tight.id } }))
    expect(await decide()).toEqual(['created', 3])
    const wide = await aPolicy(client, { autoApproveLimitEuros: 25 })
    await bodyOf(client.policies.assign({ params, body: { policyId: wide.id } }))
    expect(await decide()).toEqual(['created', 4])
    await bodyOf(client.policies.toggle({ params, body: { field: 'requireAttestation', value: false } }))
    expect(await decide()).toEqual(['approved', 5])
  })

  test('stores all given members', async () => {
    const { client, agent } = await anOwnerWithAgent()
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
    expect(await intentOf(client, intent.id)).toEqual(intent)
  })

  test('holds amounts to the cent, however large', async () => {
    const { client, agent } = await anOwnerWithAgent()
    for (const amountEuros of [0.01, 0.29, 1.1, 4_503_599.63, 99_999_999_999.99, 100_000_000_000])
      expect(
        (await intentOf(client, (await anIntent(client, agent.id, { amountEuros })).id)).amountEuros,
      ).toBe(amountEuros)
  })

  test.each([
    ['after a minute', 1],
    ['after a month', 43_200],
  ])('can expire %s', async (_, expiresInMinutes) => {
    const { client, agent } = await anOwnerWithAgent()
    const { createdAt, expiresAt } = await anIntent(client, agent.id, { expiresInMinutes })
    expect(Date.parse(expiresAt) - Date.parse(createdAt)).toBe(minutes(expiresInMinutes))
  })

  test('writes its events in the same transaction', async () => {
    const { client, agent } = await anOwnerWithAgent({ autoApproveLimitEuros: 25 })
    const create = (amountEuros: number) =>
      client.intents.create({ body: { agentId: agent.id, amountEuros, merchant: 'Bookshop', purpose: 'P' } })
    const [waiting, approved] = [await create(26), await create(25)]
    expect(await traceOf(service, waiting)).toEqual({
      events: ['intent.created'],
      actions: ['intents.create'],
      entries: 1,
    })
    expect(await traceOf(service, approved)).toEqual({
      events: ['intent.created', 'intent.approved'],
      actions: ['intents.create'],
      entries: 2,
    })
    for (const answer of [waiting, approved])
      expect(await transactionCount(service, answer, 'intents', answer.body.id)).toBe(1)
    const data = { intentId: approved.body.id, agentId: agent.id, amountEuros: 25, merchant: 'Bookshop' }
    expect(await eventsOf(approved.body.id)).toEqual([
      { event: 'intent.created', data: { ...data, status: 'created' }, agent_id: agent.id },
      { event: 'intent.approved', data: { ...data, status: 'approved' }, agent_id: agent.id },
    ])
  })

  test('writes the start of its process into the outbox in the same transaction', async () => {
    const { client, ownerId, agent } = await anOwnerWithAgent()
    const { id } = await anIntent(client, agent.id)
    const rows = await service.sql(
      `select o.process, o.input, o.attempts, o.xmin = i.xmin as together
       from outbox o join intents i on i.workflow_id = o.workflow_id where i.id = $1`,
      [id],
    )
    expect(rows).toEqual([
      {
        process: 'intent',
        input: {
          id,
          ownerId,
          mode: 'test',
          agentId: agent.id,
          status: 'created',
          summary: 'Intent of € 25.00, test',
          amount: 25,
          deadline: expect.stringMatching(/^\d{4}-/),
        },
        attempts: 0,
        together: true,
      },
    ])
  })
})

describe('an intent in live mode', () => {
  test('is declared and decided with a live key, apart from test mode', async () => {
    const live = await aLiveClient(service, await service.owner())
    const agent = await anAgent(live)
    await creditWallet(service, agent)
    const { id, mode } = await anIntent(live, agent.id)
    expect(mode).toBe('live')
    expect((await bodyOf(live.intents.approve({ params: { id } }))).status).toBe('approved')
  })
})
