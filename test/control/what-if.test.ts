import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { replayAll } from '../../src/control/policies/backtest.ts'
import { compile } from '../../src/control/policies/decide.ts'
import { PolicyCreate } from '../../src/control/policies/rules.ts'
import {
  aFundedAgent,
  aKey,
  anAgent,
  anAgentUnder,
  anIntent,
  aPolicy,
  aRun,
  aToken,
  made,
  type TestClient,
} from '../support/factories.ts'
import { startHouse } from '../support/harness.ts'

const house = await startHouse()

type Rules = Parameters<typeof anAgentUnder>[1]

const EVER = { from: '2026-01-01T00:00:00.000Z', to: '2100-01-01T00:00:00.000Z' }
const day = 24 * 60 * 60_000

/** An agent under these rules, of an owner of its own; nobody is asked unless a rule says so. */
async function someone(rules: Rules = {}) {
  const owner = await house.owner()
  const { client } = owner
  const agent = await anAgentUnder(client, { autoApproveLimitEuros: 1_000, ...rules })
  let shops = 0
  const declare = (amountEuros: number, members = {}) =>
    anIntent(client, agent.id, { amountEuros, merchant: `shop${++shops}.example.com`, ...members })
  const approve = (id: string) => made(client.intents.approve({ params: { id } }))
  const under = async (other: Rules, body: object = {}) => {
    const { id } = await aPolicy(client, { autoApproveLimitEuros: 1_000, ...other })
    return made(client.policies.backtest({ params: { id }, body: { ...EVER, ...body } }))
  }
  return { ...owner, agent, id: agent.id, declare, approve, under }
}

type Backtest = Awaited<ReturnType<Awaited<ReturnType<typeof someone>>['under']>>

const countsOf = ({ decisions, same, newlyDenied, newlyAllowed, newlyToPerson, decidedBefore }: Backtest) => {
  const counts = [same, newlyDenied, newlyAllowed, newlyToPerson, decidedBefore].map(({ count }) => count)
  expect(counts.reduce((sum, one) => sum + one, 0)).toBe(decisions)
  return counts
}

interface Told {
  readonly allowed: boolean
  readonly requiresApproval: boolean
  readonly checks: readonly { rule: string; outcome: string; message: string }[]
}

/** What was decided, save for the minute in which it was. */
const decided = ({ allowed, requiresApproval, checks }: Told) => ({
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

describe('simulating', () => {
  test('says what declaring then decides, whatever came before; and replayed under the same rules nothing differs', async () => {
    await fc.assert(
      fc.asyncProperty(anyRules, anySpends, euros(90), euros(90), async (rules, spends, ofRun, ofOwner) => {
        const { client, id, agent, declare } = await someone(rules)
        const run = await aRun(client, id, { budgetEuros: ofRun === 0 ? null : ofRun })
        await made(client.policies.setBudget({ body: { dailyLimitEuros: ofOwner } }))
        for (const { after, shop, inRun, ...spend } of spends) {
          const asked = { ...spend, merchant: `shop${shop}.example.com`, runId: inRun ? run.id : null }
          const foreseen = await made(client.intents.simulate({ body: { ...asked, agentId: id } }))
          const { decision, ...intent } = await declare(spend.amountEuros, asked)
          expect(decided(foreseen)).toEqual(decided(decision))
          expect([foreseen.policyId, foreseen.policyVersion]).toEqual([agent.policyId, 1])
          const params = { id: intent.id }
          if (after === 'approve') await client.intents.approve({ params })
          if (after === 'cancel') await client.intents.cancel({ params })
        }
        const again = await made(
          client.policies.backtest({
            params: { id: String(agent.policyId) },
            body: { ...EVER, agentId: id },
          }),
        )
        expect(again.decisions).toBeGreaterThanOrEqual(spends.length)
        expect(again.same.count).toBe(again.decisions)
        expect([again.examples, again.byRule]).toEqual([[], []])
      }),
      { numRuns: 10 },
    )
  })

  test('stores nothing, reserves nothing, and has no id', async () => {
    const { client, id } = await someone({ dailyLimitEuros: 10 })
    const body = { agentId: id, amountEuros: 10, merchant: 'Bookshop' }
    for (const _ of [1, 2]) {
      const answer = await made(client.intents.simulate({ body }))
      expect(answer).toMatchObject({ id: null, allowed: true, requiresApproval: false })
    }
    for (const table of ['decisions where agent_id', 'intents where agent_id', 'counters where subject'])
      expect(await house.sql(`select from ${table} = $1`, [id])).toEqual([])
    expect((await made(client.agents.balance({ params: { id } }))).heldEuros).toBe(0)
  })

  test('at another instant looks at that day, its hours, and keeps the rest as it is now', async () => {
    const { client, id, declare } = await someone({
      dailyLimitEuros: 10,
      monthlyLimitEuros: 15,
      maxUsageCount: 2,
    })
    await declare(10)
    const ask = async (at: Date, amountEuros: number) =>
      (
        await made(
          client.intents.simulate({
            body: { agentId: id, amountEuros, merchant: 'Bookshop', at: at.toISOString() },
          }),
        )
      ).reason
    const now = new Date()
    const nextMonth = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 3))
    expect(await ask(now, 1)).toMatch(/^The daily limit/)
    expect(await ask(nextMonth, 10)).toMatch(/no person is asked/)
    const otherDay = now.getUTCDate() > 1 ? new Date(now.getTime() - day) : new Date(now.getTime() + day)
    expect(await ask(otherDay, 6)).toMatch(/^The monthly limit of € 15.00 is too low/)
    await declare(5, { merchant: 'Other' })
    const inline = { name: 'Day', activeHoursStart: 9, activeHoursEnd: 17, autoApproveLimitEuros: 50 }
    const at = async (time: string) =>
      (
        await made(
          client.intents.simulate({
            body: { policy: inline, amountEuros: 1, merchant: 'Bookshop', at: `2027-03-01T${time}Z` },
          }),
        )
      ).allowed
    expect([await at('08:59:59'), await at('09:00:00'), await at('17:00:00')]).toEqual([false, true, false])
  })

  test('takes the rules of a policy, or rules that nobody has, for somebody who has spent nothing', async () => {
    const { client, declare, agent } = await someone({ dailyLimitEuros: 10 })
    await declare(10)
    const asked = { amountEuros: 10, merchant: 'Bookshop' }
    const own = await made(client.intents.simulate({ body: { ...asked, policyId: String(agent.policyId) } }))
    expect(own).toMatchObject({ allowed: true, policyId: agent.policyId, policyVersion: 1 })
    const policy = { name: 'None yet', maxTransactionEuros: 9.99 }
    const inline = await made(client.intents.simulate({ body: { ...asked, policy } }))
    expect(inline).toMatchObject({
      ...{ allowed: false, policyId: null, policyVersion: null },
      reason: '€ 10.00 is above the limit of € 9.99 for one payment.',
    })
  })

  test('tells of an agent that has no policy, no money, or is frozen', async () => {
    const { client } = await house.owner()
    const agent = await anAgent(client)
    const ask = async () =>
      (await made(client.intents.simulate({ body: { agentId: agent.id, amountEuros: 5, merchant: 'Shop' } })))
        .reason
    expect(await ask()).toBe('The agent has no policy: a person approves every intent.')
    const { id } = await aPolicy(client, { autoApproveLimitEuros: 50 })
    await made(client.policies.assign({ params: { agentId: agent.id }, body: { policyId: id } }))
    expect(await ask()).toBe('€ 5.00 are needed, € 0.00 are available.')
    await made(client.agents.freeze({ params: { id: agent.id }, body: {} }))
    expect(await ask()).toBe('The agent is frozen: it cannot spend.')
  })

  test('is refused without one to ask about, with two, and with somebody else’s', async () => {
    const [mine, theirs] = [await someone(), await someone()]
    const { client } = mine
    const asked = { amountEuros: 5, merchant: 'Bookshop' }
    const policyId = String(mine.agent.policyId)
    for (const body of [{}, { agentId: mine.id, policyId }, { policyId, policy: { name: 'P' } }]) {
      const answer = await client.intents.simulate({ body: { ...asked, ...body } })
      expect([answer.status, answer.error]).toEqual([
        400,
        expect.stringContaining('agentId: name exactly one'),
      ])
    }
    const codes = await Promise.all(
      [{ agentId: theirs.id }, { policyId: String(theirs.agent.policyId) }].map(
        async body => (await client.intents.simulate({ body: { ...asked, ...body } })).code,
      ),
    )
    expect(codes).toEqual(['agent_not_found', 'policy_not_found'])
  })

  test('is open to an agent’s token for itself, and for no template or other agent', async () => {
    const { client, id, agent } = await someone()
    const itself = house.client(String((await aToken(client, id)).token))
    const ask = async (body: object) =>
      (await itself.intents.simulate({ body: { amountEuros: 5, merchant: 'Bookshop', ...body } })).status
    const other = await aFundedAgent(client)
    const template = await aPolicy(client)
    expect([await ask({ agentId: id }), await ask({ policyId: agent.policyId })]).toEqual([200, 200])
    expect([await ask({ agentId: other.id }), await ask({ policyId: template.id })]).toEqual([404, 404])
  })
})

describe('a backtest', () => {
  test('lets a denied spend leave room for later ones', async () => {
    const { declare, under, id, agent } = await someone()
    const [, second] = [await declare(10), await declare(20), await declare(10)]
    const answer = await under({ dailyLimitEuros: 25 })
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
    expect(answer).toMatchObject({ version: 1, agentId: null, ...EVER })
    expect(agent.policyId).not.toBe(answer.policyId)
  })

  test('lets what it allows take room from later ones', async () => {
    const { declare, under } = await someone({ dailyLimitEuros: 10 })
    const statuses = [await declare(10), await declare(10), await declare(10)].map(({ status }) => status)
    expect(statuses).toEqual(['approved', 'denied', 'denied'])
    const answer = await under({ dailyLimitEuros: 25 })
    expect(countsOf(answer)).toEqual([2, 0, 1, 0, 0])
    expect(answer.byRule).toMatchObject([
      { rule: 'dailyLimitEuros', newlyAllowed: { count: 1, amountEuros: 10 } },
    ])
    expect(answer.examples[0]?.wasReason).toMatch(/reached/)
  })

  test('knows what the money and the time between spends would have been', async () => {
    const owner = await house.owner()
    const policyId = (await aPolicy(owner.client, { autoApproveLimitEuros: 100, maxTransactionEuros: 15 })).id
    const agent = await aFundedAgent(owner.client, { policyId }, 30)
    for (const [n, amountEuros] of [20, 15, 10].entries())
      await anIntent(owner.client, agent.id, { amountEuros, merchant: `Shop ${n}` })
    const replay = async (rules: Rules) => {
      const { id } = await aPolicy(owner.client, { autoApproveLimitEuros: 100, ...rules })
      return made(owner.client.policies.backtest({ params: { id }, body: EVER }))
    }
    const poorer = await replay({})
    expect(countsOf(poorer)).toEqual([1, 1, 1, 0, 0])
    expect(poorer.examples.map(({ rule, now }) => [rule, now])).toEqual([
      ['maxTransactionEuros', 'allowed'],
      ['insufficient_funds', 'denied'],
    ])
    const slower = await replay({ maxTransactionEuros: 12, cooldownMinutes: 60 })
    // The second one would have been too much, so the third is the first and waits for nothing.
    expect(countsOf(slower)).toEqual([2, 1, 0, 0, 0])
  })

  test('takes what a person approved as approved, and nothing twice', async () => {
    const { declare, approve, under } = await someone({ autoApproveLimitEuros: 5 })
    await approve((await declare(10)).id)
    await declare(5)
    const asked = await declare(10)
    expect(asked.status).toBe('created')
    const wider = await under({ dailyLimitEuros: 25 })
    expect(countsOf(wider)).toEqual([1, 0, 2, 0, 1])
    expect(wider.byRule).toMatchObject([{ rule: 'autoApproveLimitEuros', newlyAllowed: { count: 2 } }])
    const tighter = await under({ autoApproveLimitEuros: 2, maxTransactionEuros: 9 })
    expect(countsOf(tighter)).toEqual([0, 2, 0, 1, 1])
    expect(tighter.newlyToPerson.amountEuros).toBe(5)
    expect(tighter.decidedBefore.amountEuros).toBe(10)
    const limited = await under({ autoApproveLimitEuros: 5, dailyLimitEuros: 9 })
    expect(countsOf(limited)).toEqual([1, 2, 0, 0, 1])
  })

  test('counts what was given back as it was', async () => {
    const { declare, under, client } = await someone()
    const first = await declare(20)
    await made(client.intents.cancel({ params: { id: first.id } }))
    await declare(10)
    await declare(10)
    // The first one is too much, and leaves no more room than it had taken: nothing.
    const answer = await under({ maxTransactionEuros: 15, dailyLimitEuros: 15 })
    expect(countsOf(answer)).toEqual([1, 2, 0, 0, 0])
  })

  test('begins each agent, each day and each span anew', async () => {
    const { declare, under, client, id } = await someone()
    const other = await anAgentUnder(client, { autoApproveLimitEuros: 100 })
    await anIntent(client, other.id, { amountEuros: 10 })
    await declare(10)
    await made(client.sandbox.advance({ body: { days: 1 } }))
    const tomorrow = await declare(10)
    expect(countsOf(await under({ dailyLimitEuros: 10 }))).toEqual([3, 0, 0, 0, 0])
    expect(countsOf(await under({ dailyLimitEuros: 9 }, { agentId: id }))).toEqual([0, 2, 0, 0, 0])
    const since = tomorrow.createdAt
    expect(countsOf(await under({ dailyLimitEuros: 9 }, { from: since }))).toEqual([0, 1, 0, 0, 0])
    expect(countsOf(await under({ dailyLimitEuros: 9 }, { to: since }))).toEqual([0, 2, 0, 0, 0])
    expect(countsOf(await under({}, { from: '2099-01-01T00:00:00Z' }))).toEqual([0, 0, 0, 0, 0])
  })

  test('reads page after page, also of one instant, and keeps a hundred examples', async () => {
    const { declare, under, ownerId, id } = await someone()
    const { decision } = await declare(10)
    const copies = `insert into decisions select 'decision_' || lpad(n::text, 26, '0'), owner_id, mode, created_at,
      updated_at, agent_id, 'trial', 'trial_' || n, policy_id, policy_version, request, counters, result
      from decisions, generate_series(1, 2100) as n where id = $1`
    await house.sql(copies, [decision.id])
    for (const body of [{}, { agentId: id }]) {
      const answer = await under({ maxTransactionEuros: 9 }, body)
      expect(countsOf(answer)).toEqual([0, 2_101, 0, 0, 0])
      expect(answer.examples).toHaveLength(100)
      expect(answer.newlyDenied.amountEuros).toBe(21_010)
    }
    const tenant = { ownerId, mode: 'test' } as const
    const span = { from: new Date(EVER.from), to: new Date(EVER.to) }
    const rules = compile(PolicyCreate.parse({ name: 'P' }))
    const sql = (text: string, values: readonly unknown[] = []) => house.sql(text, [...values])
    expect(await replayAll(sql as never, tenant, span, rules, -1)).toBeUndefined()
  })

  test('is refused for a span that ends before it begins, and for what is not the owner’s', async () => {
    const [mine, theirs] = [await someone(), await someone()]
    const { client } = mine
    const own = { id: String(mine.agent.policyId) }
    const backwards = await client.policies.backtest({ params: own, body: { from: EVER.to, to: EVER.from } })
    expect([backwards.status, backwards.error]).toEqual([400, expect.stringContaining('to: must be later')])
    const foreign = { id: String(theirs.agent.policyId) }
    expect((await client.policies.backtest({ params: foreign, body: EVER })).code).toBe('policy_not_found')
    const body = { ...EVER, agentId: theirs.id }
    expect((await client.policies.backtest({ params: own, body })).code).toBe('agent_not_found')
    await theirs.declare(10)
    expect((await made(client.policies.backtest({ params: own, body: EVER }))).decisions).toBe(0)
    const itself = house.client(String((await aToken(client, mine.id)).token))
    expect((await itself.policies.backtest({ params: own, body: EVER })).status).toBe(403)
    const blind = house.client(String((await aKey(client, { scopes: ['agents:read'] })).key))
    expect((await blind.policies.backtest({ params: own, body: EVER })).code).toBe('missing_scope')
  })
})

describe('a probe', () => {
  test('shows every rule from both sides, and what contradicts itself', async () => {
    const { client } = await house.owner()
    const { id } = await aPolicy(client, {
      maxTransactionEuros: 20,
      autoApproveLimitEuros: 30,
      requireAttestation: true,
    })
    const answer = await made(client.policies.probe({ params: { id } }))
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
    const stranger = (await house.owner()).client
    expect((await stranger.policies.probe({ params: { id } })).code).toBe('policy_not_found')
    const agent = await anAgentUnder(client, {})
    const itself = house.client(String((await aToken(client, agent.id)).token))
    expect((await itself.policies.probe({ params: { id: String(agent.policyId) } })).status).toBe(200)
    expect((await itself.policies.probe({ params: { id } })).status).toBe(404)
  })
})

describe('versions', () => {
  const textsOf = async (client: TestClient, id: string, query = {}) => {
    const { data, nextCursor } = await made(client.policies.versions({ params: { id }, query }))
    return { texts: data.map(({ changes }) => changes.map(({ text }) => text)), nextCursor, data }
  }

  test('say what is different from the one before, across pages too', async () => {
    const { client } = await house.owner()
    const first = { name: 'Research', dailyLimitEuros: 50, merchantAllowlist: ['A', 'B'], cooldownMinutes: 5 }
    const { id } = await aPolicy(client, first)
    const second = {
      ...{ ...first, dailyLimitEuros: 70, merchantAllowlist: ['B', 'C'], cooldownMinutes: null },
      ...{ requireIntent: true, activeHoursStart: 9, amountTolerancePercent: 2.5, maxUsageCount: 1 },
    }
    await made(client.policies.replace({ params: { id }, body: second }))
    await made(
      client.policies.replace({ params: { id }, body: { ...second, merchantAllowlist: ['C', 'B'] } }),
    )
    const { texts, data } = await textsOf(client, id)
    const told = [
      'Daily limit: € 50.00 → € 70.00',
      'Allowed merchants: added C; removed A',
      'Time between two spends: 5 minutes → none',
      'Cards need an approved intent: off → on',
      'First hour: none → 09:00 UTC',
      'Number of payments: none → 1 payment',
      'Tolerance of the amount: none → 2.5 %',
    ]
    expect(texts).toEqual([[], told, []])
    expect(data[1]?.changes[0]).toMatchObject({ field: 'dailyLimitEuros', from: 50, to: 70 })
    const one = await textsOf(client, id, { limit: 1 })
    const two = await textsOf(client, id, { limit: 1, cursor: String(one.nextCursor) })
    expect([one.texts, two.texts]).toEqual([[[]], [told]])
  })
})
