import './simulation/backtest.ts'
import './simulation/simulate-like-declare.ts'
import './simulation/probe.ts'
import './simulation/preset-explanations.ts'
import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { ALL_TIME, simulationFixtures } from '../support/control/simulation.ts'
import { aFundedAgent, anAgent, aPolicy, aRun, aToken, bodyOf } from '../support/factories.ts'
import { startTestService } from '../support/harness.ts'

const service = await startTestService({ own: true })
const { anAgentUnderRules } = simulationFixtures(service)
const day = 24 * 60 * 60_000

interface DecisionLike {
  readonly allowed: boolean
  readonly requiresApproval: boolean
  readonly checks: readonly { rule: string; outcome: string; message: string }[]
}

/** Without messages, which contain the minute of the decision. */
const withoutMessages = ({ allowed, requiresApproval, checks }: DecisionLike) => ({
  allowed,
  requiresApproval,
  checks: checks.map(({ message: _, ...rest }) => rest),
})

const euros = (max: number) => fc.option(fc.integer({ min: 0, max }), { nil: null })
const anyRules = fc.record({
  maxTransactionEuros: euros(60),
  dailyLimitEuros: euros(100),
  monthlyLimitEuros: euros(150),
  autoApproveLimitEuros: euros(40),
  merchantAllowlist: fc.subarray(['*.example.com', 'Library']),
  merchantBlocklist: fc.subarray(['shop2.example.com']),
  allowedMccs: fc.subarray(['5942', '4511']),
  blockedMccs: fc.subarray(['4511'], { maxLength: 1 }),
  allowedCountries: fc.subarray(['DE', 'FR']),
  cooldownMinutes: fc.constantFrom(null, null, 3),
  maxUsageCount: fc.constantFrom(null, 1, 2),
  amountTolerancePercent: fc.constantFrom(null, 10),
  requireAttestation: fc.constantFrom(false, false, false, true),
})
const anySpends = fc.array(
  fc.record({
    amountEuros: fc.integer({ min: 1, max: 50 }),
    mcc: fc.constantFrom(null, '5942', '4511'),
    country: fc.constantFrom(null, 'DE', 'FR', 'US'),
    shop: fc.constantFrom(1, 2),
    inRun: fc.boolean(),
    after: fc.constantFrom('nothing' as const, 'approve' as const, 'cancel' as const),
  }),
  { minLength: 3, maxLength: 6 },
)

describe('a simulation', () => {
  test('a simulation predicts the declaration after any history, and a backtest under the same rules finds no difference', async () => {
    await fc.assert(
      fc.asyncProperty(
        anyRules,
        anySpends,
        euros(90),
        euros(90),
        async (rules, spends, runBudget, ownerLimit) => {
          const { client, id, agent, declare } = await anAgentUnderRules(rules)
          const run = await aRun(client, id, { budgetEuros: runBudget === 0 ? null : runBudget })
          await bodyOf(client.policies.setBudget({ body: { dailyLimitEuros: ownerLimit } }))
          for (const { after, shop, inRun, ...spend } of spends) {
            const request = { ...spend, merchant: `shop${shop}.example.com`, runId: inRun ? run.id : null }
            const simulated = await bodyOf(client.intents.simulate({ body: { ...request, agentId: id } }))
            const { decision, ...intent } = await declare(spend.amountEuros, request)
            expect(withoutMessages(simulated)).toEqual(withoutMessages(decision))
            expect([simulated.policyId, simulated.policyVersion]).toEqual([agent.policyId, 1])
            const params = { id: intent.id }
            if (after === 'approve') await client.intents.approve({ params })
            if (after === 'cancel') await client.intents.cancel({ params })
          }
          const params = { id: String(agent.policyId) }
          const body = { ...ALL_TIME, agentId: id }
          const report = await bodyOf(client.policies.backtest({ params, body }))
          expect(report.decisions).toBeGreaterThanOrEqual(spends.length)
          expect(report.same.count).toBe(report.decisions)
          expect([report.examples, report.byRule]).toEqual([[], []])
        },
      ),
      { numRuns: 10 },
    )
  })

  test('stores nothing, reserves nothing, and has no id', async () => {
    const { client, id } = await anAgentUnderRules({ dailyLimitEuros: 10 })
    const body = { agentId: id, amountEuros: 10, merchant: 'Bookshop' }
    for (const _ of [1, 2]) {
      const answer = await bodyOf(client.intents.simulate({ body }))
      expect(answer).toMatchObject({ id: null, allowed: true, requiresApproval: false })
    }
    for (const table of ['decisions where agent_id', 'intents where agent_id', 'counters where subject'])
      expect(await service.sql(`select from ${table} = $1`, [id])).toEqual([])
    expect((await bodyOf(client.agents.balance({ params: { id } }))).heldEuros).toBe(0)
  })

  test('at another instant takes that day and hour, and everything else as it is now', async () => {
    const { client, id, declare } = await anAgentUnderRules({
      dailyLimitEuros: 10,
      monthlyLimitEuros: 15,
      maxUsageCount: 2,
    })
    await declare(10)
    const reasonAt = async (at: Date, amountEuros: number) =>
      (
        await bodyOf(
          client.intents.simulate({
            body: { agentId: id, amountEuros, merchant: 'Bookshop', at: at.toISOString() },
          }),
        )
      ).reason
    const now = new Date()
    const nextMonth = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 3))
    expect(await reasonAt(now, 1)).toMatch(/^The daily limit/)
    expect(await reasonAt(nextMonth, 10)).toMatch(/within the auto-approve limit/)
    const otherDay = now.getUTCDate() > 1 ? new Date(now.getTime() - day) : new Date(now.getTime() + day)
    expect(await reasonAt(otherDay, 6)).toMatch(/^The monthly limit of € 15.00 is too low/)
    await declare(5, { merchant: 'Other' })
    const inline = { name: 'Day', activeHoursStart: 9, activeHoursEnd: 17, autoApproveLimitEuros: 50 }
    const isAllowedAt = async (time: string) =>
      (
        await bodyOf(
          client.intents.simulate({
            body: { policy: inline, amountEuros: 1, merchant: 'Bookshop', at: `2027-03-01T${time}Z` },
          }),
        )
      ).allowed
    expect([
      await isAllowedAt('08:59:59'),
      await isAllowedAt('09:00:00'),
      await isAllowedAt('17:00:00'),
    ]).toEqual([false, true, false])
  })

  test('takes a policy, or rules that no policy has, as if nothing had been spent', async () => {
    const { client, declare, agent } = await anAgentUnderRules({ dailyLimitEuros: 10 })
    await declare(10)
    const request = { amountEuros: 10, merchant: 'Bookshop' }
    const own = await bodyOf(
      client.intents.simulate({ body: { ...request, policyId: String(agent.policyId) } }),
    )
    expect(own).toMatchObject({ allowed: true, policyId: agent.policyId, policyVersion: 1 })
    const policy = { name: 'None yet', maxTransactionEuros: 9.99 }
    const inline = await bodyOf(client.intents.simulate({ body: { ...request, policy } }))
    expect(inline).toMatchObject({
      allowed: false,
      policyId: null,
      policyVersion: null,
      reason: '€ 10.00 is above the limit of € 9.99 for one payment.',
    })
  })

  test('gives the reason for an agent without a policy, without money, or frozen', async () => {
    const { client } = await service.owner()
    const agent = await anAgent(client)
    const simulatedReason = async () =>
      (
        await bodyOf(
          client.intents.simulate({ body: { agentId: agent.id, amountEuros: 5, merchant: 'Shop' } }),
        )
      ).reason
    expect(await simulatedReason()).toBe('The agent has no policy: a person approves every intent.')
    const { id } = await aPolicy(client, { autoApproveLimitEuros: 50 })
    await bodyOf(client.policies.assign({ params: { agentId: agent.id }, body: { policyId: id } }))
    expect(await simulatedReason()).toBe('€ 5.00 is needed, but only € 0.00 is available.')
    await bodyOf(client.agents.freeze({ params: { id: agent.id }, body: {} }))
    expect(await simulatedReason()).toBe('The agent is frozen: it cannot spend.')
  })

  test('is refused without a subject, with two, and with those of another owner', async () => {
    const [mine, theirs] = [await anAgentUnderRules(), await anAgentUnderRules()]
    const { client } = mine
    const request = { amountEuros: 5, merchant: 'Bookshop' }
    const policyId = String(mine.agent.policyId)
    for (const body of [{}, { agentId: mine.id, policyId }, { policyId, policy: { name: 'P' } }]) {
      const answer = await client.intents.simulate({ body: { ...request, ...body } })
      expect([answer.status, answer.error]).toEqual([
        400,
        expect.stringContaining('agentId: send exactly one of agentId, policyId and policy'),
      ])
    }
    const codes = await Promise.all(
      [{ agentId: theirs.id }, { policyId: String(theirs.agent.policyId) }].map(
        async body => (await client.intents.simulate({ body: { ...request, ...body } })).code,
      ),
    )
    expect(codes).toEqual(['agent_not_found', 'policy_not_found'])
  })

  test('is open to an agent’s token for the agent itself, not for templates or other agents', async () => {
    const { client, id, agent } = await anAgentUnderRules()
    const tokenClient = service.client(String((await aToken(client, id)).token))
    const statusOf = async (body: object) =>
      (await tokenClient.intents.simulate({ body: { amountEuros: 5, merchant: 'Bookshop', ...body } })).status
    const other = await aFundedAgent(client)
    const template = await aPolicy(client)
    expect([await statusOf({ agentId: id }), await statusOf({ policyId: agent.policyId })]).toEqual([
      200, 200,
    ])
    expect([await statusOf({ agentId: other.id }), await statusOf({ policyId: template.id })]).toEqual([
      404, 404,
    ])
  })
})
