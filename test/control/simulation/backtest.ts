import { describe, expect, test } from '@jest/globals'
import { replayDecisions } from '../../../src/control/policies/backtest.ts'
import { compilePolicy } from '../../../src/control/rules/decide.ts'
import { PolicyCreate } from '../../../src/control/rules/rules.ts'
import { ALL_TIME, type Rules, simulationFixtures } from '../../support/control/simulation.ts'
import {
  aFundedAgent,
  aKey,
  anAgentUnder,
  anIntent,
  aPolicy,
  aToken,
  bodyOf,
} from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'

const service = await startTestService({ own: true })
const { anAgentUnderRules } = simulationFixtures(service)
type Backtest = Awaited<ReturnType<Awaited<ReturnType<typeof anAgentUnderRules>>['backtestUnder']>>

const countsOf = ({ decisions, same, newlyDenied, newlyAllowed, newlyToPerson, decidedBefore }: Backtest) => {
  const counts = [same, newlyDenied, newlyAllowed, newlyToPerson, decidedBefore].map(({ count }) => count)
  expect(counts.reduce((sum, count) => sum + count, 0)).toBe(decisions)
  return counts
}

describe('a backtest', () => {
  test('leaves the room of a denied spend to later ones', async () => {
    const { declare, backtestUnder, id, agent } = await anAgentUnderRules()
    const [, second] = [await declare(10), await declare(20), await declare(10)]
    const answer = await backtestUnder({ dailyLimitEuros: 25 })
    expect(countsOf(answer)).toEqual([2, 1, 0, 0, 0])
    expect(answer.newlyDenied.amountEuros).toBe(20)
    expect(answer.byRule).toEqual([
      {
        rule: 'dailyLimitEuros',
        newlyDenied: { count: 1, amountEuros: 20 },
        newlyAllowed: { count: 0, amountEuros: 0 },
        newlyToPerson: { count: 0, amountEuros: 0 },
      },
    ])
    expect(answer.examples).toEqual([
      {
        decisionId: second.decision.id,
        agentId: id,
        subjectType: 'intent',
        subjectId: second.id,
        at: second.createdAt,
        amountEuros: 20,
        merchant: second.merchant,
        was: 'allowed',
        now: 'denied',
        rule: 'dailyLimitEuros',
        wasReason: second.decision.reason,
        reason: 'The daily limit of € 25.00 is too low for € 20.00: € 10.00 used, € 15.00 left.',
      },
    ])
    expect(answer).toMatchObject({ version: 1, agentId: null, ...ALL_TIME })
    expect(agent.policyId).not.toBe(answer.policyId)
  })

  test('takes the room of an allowed spend from later ones', async () => {
    const { declare, backtestUnder } = await anAgentUnderRules({ dailyLimitEuros: 10 })
    const statuses = [await declare(10), await declare(10), await declare(10)].map(({ status }) => status)
    expect(statuses).toEqual(['approved', 'denied', 'denied'])
    const answer = await backtestUnder({ dailyLimitEuros: 25 })
    expect(countsOf(answer)).toEqual([2, 0, 1, 0, 0])
    expect(answer.byRule).toMatchObject([
      { rule: 'dailyLimitEuros', newlyAllowed: { count: 1, amountEuros: 10 } },
    ])
    expect(answer.examples[0]?.wasReason).toMatch(/reached/)
  })

  test('adjusts the money and the time between spends', async () => {
    const owner = await service.owner()
    const policyId = (await aPolicy(owner.client, { autoApproveLimitEuros: 100, maxTransactionEuros: 15 })).id
    const agent = await aFundedAgent(owner.client, { policyId }, 30)
    for (const [n, amountEuros] of [20, 15, 10].entries())
      await anIntent(owner.client, agent.id, { amountEuros, merchant: `Shop ${n}` })
    const replay = async (rules: Rules) => {
      const { id } = await aPolicy(owner.client, { autoApproveLimitEuros: 100, ...rules })
      return bodyOf(owner.client.policies.backtest({ params: { id }, body: ALL_TIME }))
    }
    const poorer = await replay({})
    expect(countsOf(poorer)).toEqual([1, 1, 1, 0, 0])
    expect(poorer.examples.map(({ rule, now }) => [rule, now])).toEqual([
      ['maxTransactionEuros', 'allowed'],
      ['insufficient_funds', 'denied'],
    ])
    const slower = await replay({ maxTransactionEuros: 12, cooldownMinutes: 60 })
    // The second spend is denied, so the third is the first one and has no cooldown.
    expect(countsOf(slower)).toEqual([2, 1, 0, 0, 0])
  })

  test('counts an approval by a person as approved, and no spend twice', async () => {
    const { declare, approve, backtestUnder } = await anAgentUnderRules({ autoApproveLimitEuros: 5 })
    await approve((await declare(10)).id)
    await declare(5)
    const waiting = await declare(10)
    expect(waiting.status).toBe('created')
    const wider = await backtestUnder({ dailyLimitEuros: 25 })
    expect(countsOf(wider)).toEqual([1, 0, 2, 0, 1])
    expect(wider.byRule).toMatchObject([{ rule: 'autoApproveLimitEuros', newlyAllowed: { count: 2 } }])
    const tighter = await backtestUnder({ autoApproveLimitEuros: 2, maxTransactionEuros: 9 })
    expect(countsOf(tighter)).toEqual([0, 2, 0, 1, 1])
    expect(tighter.newlyToPerson.amountEuros).toBe(5)
    expect(tighter.decidedBefore.amountEuros).toBe(10)
    const limited = await backtestUnder({ autoApproveLimitEuros: 5, dailyLimitEuros: 9 })
    expect(countsOf(limited)).toEqual([1, 2, 0, 0, 1])
  })

  test('counts a cancelled spend as the record does', async () => {
    const { declare, backtestUnder, client } = await anAgentUnderRules()
    const first = await declare(20)
    await bodyOf(client.intents.cancel({ params: { id: first.id } }))
    await declare(10)
    await declare(10)
    // The first spend is denied. It was cancelled and took no room, so it leaves none.
    const answer = await backtestUnder({ maxTransactionEuros: 15, dailyLimitEuros: 15 })
    expect(countsOf(answer)).toEqual([1, 2, 0, 0, 0])
  })

  test('starts again for each agent, day and span', async () => {
    const { declare, backtestUnder, client, id } = await anAgentUnderRules()
    const other = await anAgentUnder(client, { autoApproveLimitEuros: 100 })
    await anIntent(client, other.id, { amountEuros: 10 })
    await declare(10)
    await bodyOf(client.sandbox.advance({ body: { days: 1 } }))
    const tomorrow = await declare(10)
    expect(countsOf(await backtestUnder({ dailyLimitEuros: 10 }))).toEqual([3, 0, 0, 0, 0])
    expect(countsOf(await backtestUnder({ dailyLimitEuros: 9 }, { agentId: id }))).toEqual([0, 2, 0, 0, 0])
    const since = tomorrow.createdAt
    expect(countsOf(await backtestUnder({ dailyLimitEuros: 9 }, { from: since }))).toEqual([0, 1, 0, 0, 0])
    expect(countsOf(await backtestUnder({ dailyLimitEuros: 9 }, { to: since }))).toEqual([0, 2, 0, 0, 0])
    expect(countsOf(await backtestUnder({}, { from: '2099-01-01T00:00:00Z' }))).toEqual([0, 0, 0, 0, 0])
  })

  test('reads page after page, also within one instant, and shows a hundred examples', async () => {
    const { declare, backtestUnder, ownerId, id } = await anAgentUnderRules()
    const { decision } = await declare(10)
    const copies = `insert into decisions select 'decision_' || lpad(n::text, 26, '0'), owner_id, mode, created_at,
      updated_at, agent_id, 'trial', 'trial_' || n, policy_id, policy_version, request, counters, result
      from decisions, generate_series(1, 2100) as n where id = $1`
    await service.sql(copies, [decision.id])
    for (const body of [{}, { agentId: id }]) {
      const answer = await backtestUnder({ maxTransactionEuros: 9 }, body)
      expect(countsOf(answer)).toEqual([0, 2_101, 0, 0, 0])
      expect(answer.examples).toHaveLength(100)
      expect(answer.newlyDenied.amountEuros).toBe(21_010)
    }
    const tenant = { ownerId, mode: 'test' } as const
    const span = { from: new Date(ALL_TIME.from), to: new Date(ALL_TIME.to) }
    const rules = compilePolicy(PolicyCreate.parse({ name: 'P' }))
    const sql = (text: string, values: readonly unknown[] = []) => service.sql(text, [...values])
    expect(await replayDecisions(sql as never, tenant, span, rules, -1)).toBeUndefined()
  })

  test('is refused for a span that ends before it begins, and for records of another owner', async () => {
    const [mine, theirs] = [await anAgentUnderRules(), await anAgentUnderRules()]
    const { client } = mine
    const own = { id: String(mine.agent.policyId) }
    const backwards = await client.policies.backtest({
      params: own,
      body: { from: ALL_TIME.to, to: ALL_TIME.from },
    })
    expect([backwards.status, backwards.error]).toEqual([400, expect.stringContaining('to: must be later')])
    const foreign = { id: String(theirs.agent.policyId) }
    expect((await client.policies.backtest({ params: foreign, body: ALL_TIME })).code).toBe(
      'policy_not_found',
    )
    const body = { ...ALL_TIME, agentId: theirs.id }
    expect((await client.policies.backtest({ params: own, body })).code).toBe('agent_not_found')
    await theirs.declare(10)
    expect((await bodyOf(client.policies.backtest({ params: own, body: ALL_TIME }))).decisions).toBe(0)
    const tokenClient = service.client(String((await aToken(client, mine.id)).token))
    expect((await tokenClient.policies.backtest({ params: own, body: ALL_TIME })).status).toBe(403)
    const blind = service.client(String((await aKey(client, { scopes: ['agents:read'] })).key))
    expect((await blind.policies.backtest({ params: own, body: ALL_TIME })).code).toBe('missing_scope')
  })
})

describe('a probe', () => {
  test('shows every rule from both sides, and warns of contradictions', async () => {
    const { client } = await service.owner()
    const { id } = await aPolicy(client, {
      maxTransactionEuros: 20,
      autoApproveLimitEuros: 30,
      requireAttestation: true,
    })
    const answer = await bodyOf(client.policies.probe({ params: { id } }))
    expect(answer).toMatchObject({ policyId: id, version: 1 })
    expect(answer.rules.map(({ rule, stops }) => [rule, stops?.message])).toEqual([
      ['maxTransactionEuros', '€ 20.01 is above the limit of € 20.00 for one payment.'],
      ['requireAttestation', 'The passkey’s approval is older than 5 minutes.'],
    ])
    expect(answer.rules[1]?.stops?.situation.attestedAt).not.toBeNull()
    expect(answer.warnings.map(({ fields }) => fields)).toEqual([
      ['autoApproveLimitEuros', 'maxTransactionEuros'],
      ['autoApproveLimitEuros', 'requireAttestation'],
    ])
    const stranger = (await service.owner()).client
    expect((await stranger.policies.probe({ params: { id } })).code).toBe('policy_not_found')
    const agent = await anAgentUnder(client, {})
    const tokenClient = service.client(String((await aToken(client, agent.id)).token))
    expect((await tokenClient.policies.probe({ params: { id: String(agent.policyId) } })).status).toBe(200)
    expect((await tokenClient.policies.probe({ params: { id } })).status).toBe(404)
  })
})
