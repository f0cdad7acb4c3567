import { describe, expect, test } from '@jest/globals'
import { times } from '../support/at-once.ts'
import { clientAt } from '../support/client.ts'
import { decideAgain } from '../support/control/decide-again.ts'
import {
  aBeneficiary,
  aLiveClient,
  anAgentUnder,
  anIntent,
  aPolicy,
  aRun,
  aToken,
  aWallet,
  bodyOf,
  type TestClient,
} from '../support/factories.ts'
import { startTestService } from '../support/harness.ts'
import { traceOf } from '../support/trace.ts'

const service = await startTestService({ own: true })
const secondUrl = await service.another()

async function anOwnerWithAgents(agents = 2, rules: Parameters<typeof anAgentUnder>[1] = {}) {
  const owner = await service.owner()
  const clients = [owner.client, clientAt({ url: secondUrl, token: owner.key })] as const
  const anAgent = () => anAgentUnder(owner.client, { autoApproveLimitEuros: 100_000, ...rules })
  const ids: string[] = []
  for (let n = 0; n < agents; n++) ids.push((await anAgent()).id)
  let shops = 0
  const declare = (n: number, amountEuros: number, members?: object, by: TestClient = owner.client) =>
    anIntent(by, String(ids[n % agents]), { amountEuros, ...(members ?? { merchant: `Shop ${++shops}` }) })
  const anyClient = (n: number) => clients[n % 2] as TestClient
  /** Declares among very many concurrent requests; one that is refused as busy has changed nothing and is left out. */
  const tryDeclare = async (n: number, amountEuros: number, agentId = String(ids[n % agents])) => {
    const members = { agentId, amountEuros, merchant: `Shop ${++shops}`, purpose: 'A paper' }
    const { body, code } = await anyClient(n).intents.create({ body: members })
    expect([undefined, 'busy']).toContain(code)
    return code ? [] : [body]
  }
  const limit = (body: { dailyLimitEuros?: number; monthlyLimitEuros?: number }) =>
    bodyOf(owner.client.policies.setBudget({ body }))
  const budget = () => bodyOf(owner.client.policies.budget())
  return { ...owner, ids, anAgent, declare, tryDeclare, limit, budget, anyClient }
}

const noBudget = { dailyLimitEuros: null, monthlyLimitEuros: null, day: null, month: null, updatedAt: null }

interface CounterSum {
  period: string
  reserved: string
  spent: string
}

const countersSum = (ownerId: string, condition: string) =>
  service.sql<CounterSum>(
    `select period, sum(reserved_cents)::text as reserved, sum(spent_cents)::text as spent from counters
     where owner_id = $1 and mode = 'test' and ${condition} group by period order by period`,
    [ownerId],
  )

/** Expects the owner's counters to be the sum of all agents' in every period. */
async function expectOwnerSum(ownerId: string) {
  const own = await countersSum(ownerId, 'subject = owner_id')
  const all = (await countersSum(ownerId, `starts_with(subject, 'agent_')`)).map(({ period }) => period)
  expect(own).toEqual(await countersSum(ownerId, `starts_with(subject, 'agent_')`))
  expect(all.length).toBeGreaterThanOrEqual(3)
}

describe('the budget of an owner', () => {
  test('is set, shown with what is left, and removed; each change is an event', async () => {
    const { client, ownerId, declare, budget, limit } = await anOwnerWithAgents()
    expect(await budget()).toEqual(noBudget)
    await declare(0, 30)
    const answer = await client.policies.setBudget({ body: { dailyLimitEuros: 100 } })
    const use = { heldEuros: 30, spentEuros: 0 }
    expect(answer.body).toEqual({
      dailyLimitEuros: 100,
      monthlyLimitEuros: null,
      updatedAt: expect.any(String),
      day: { ...use, remainingEuros: 70 },
      month: { ...use, remainingEuros: null },
    })
    expect(await budget()).toEqual(answer.body)
    expect(await traceOf(service, answer)).toMatchObject({ events: ['budget.updated'], entries: 1 })
    const { data } = await bodyOf(client.audit.list({ query: { resource: ownerId } }))
    expect(data[0]).toMatchObject({ action: 'policies.setBudget' })
    expect((await limit({ dailyLimitEuros: 100, monthlyLimitEuros: 20 })).month?.remainingEuros).toBe(0)
    expect(await limit({})).toEqual(noBudget)
    expect(await budget()).toEqual(noBudget)
    for (const invalid of [-1, 0.001, '5']) {
      const refused = await client.policies.setBudget({ body: { dailyLimitEuros: invalid as number } })
      expect([refused.status, refused.error]).toEqual([400, expect.stringContaining('dailyLimitEuros')])
    }
    expect(await budget()).toEqual(noBudget)
  })

  test('belongs to one mode, and no agent reads or sets it', async () => {
    const owner = await service.owner()
    const agent = await anAgentUnder(owner.client, {})
    const live = await aLiveClient(service, owner)
    await bodyOf(owner.client.policies.setBudget({ body: { dailyLimitEuros: 5 } }))
    expect(await bodyOf(live.policies.budget())).toEqual(noBudget)
    const tokenClient = service.client(String((await aToken(owner.client, agent.id)).token))
    expect((await tokenClient.policies.budget()).code).toBe('wrong_caller')
    expect((await tokenClient.policies.setBudget({ body: {} })).code).toBe('wrong_caller')
  })

  test('that allows exactly seven allows seven of two hundred at once, over five agents on two processes', async () => {
    const { anyClient, tryDeclare, limit, ownerId, budget } = await anOwnerWithAgents(5)
    await limit({ dailyLimitEuros: 70 })
    const answers = (await times(200, n => tryDeclare(n, 10))).flat()
    expect(answers.filter(({ status }) => status === 'approved')).toHaveLength(7)
    const denied = answers.find(({ status }) => status === 'denied')
    expect(denied?.decision.reason).toBe(
      'The owner’s budget for the day of € 70.00 is reached: € 70.00 used, € 0.00 left.',
    )
    expect((await budget()).day).toEqual({ heldEuros: 70, spentEuros: 0, remainingEuros: 0 })
    await expectOwnerSum(ownerId)
    const params = { id: String(denied?.id) }
    const { rules } = await bodyOf(anyClient(0).intents.explanation({ params }))
    expect(rules.find(({ rule }) => rule === 'budget')).toMatchObject({
      outcome: 'fail',
      remedy: expect.stringContaining('the next period'),
    })
  })

  test('is not exceeded by concurrent approvals, and regains cancelled and expired amounts', async () => {
    const { anyClient, declare, limit, ownerId } = await anOwnerWithAgents(3, { autoApproveLimitEuros: 1 })
    await limit({ monthlyLimitEuros: 50 })
    const intents = await times(20, n => declare(n, 10, { expiresInMinutes: 1 }, anyClient(n)))
    const approve = (n: number) => anyClient(n).intents.approve({ params: { id: String(intents[n]?.id) } })
    const answers = await times(20, approve)
    const approved = intents.filter((_, n) => answers[n]?.status === 200)
    expect(approved).toHaveLength(5)
    expect(answers.find(({ status }) => status === 400)?.error).toMatch(/^The owner’s budget for the month/)
    await bodyOf(anyClient(0).intents.cancel({ params: { id: String(approved[0]?.id) } }))
    const waiting = intents.findIndex((_, n) => answers[n]?.status !== 200)
    expect((await approve(waiting)).status).toBe(200)
    await bodyOf(anyClient(0).sandbox.advance({ body: { minutes: 1 } }))
    await expectOwnerSum(ownerId)
    expect(await countersSum(ownerId, `subject = owner_id and period = 'all'`)).toMatchObject([
      { reserved: '0' },
    ])
  })

  test('applies together with other budgets: a denial names the narrowest, which also limits the tolerance', async () => {
    const { client, declare, limit, ids } = await anOwnerWithAgents(1, { amountTolerancePercent: 50 })
    await limit({ dailyLimitEuros: 100, monthlyLimitEuros: 80 })
    const run = await aRun(client, String(ids[0]), { name: 'Small', budgetEuros: 60 })
    const reason = async (amountEuros: number, members = {}) =>
      (await declare(0, amountEuros, members)).decision.reason
    expect(await reason(61, { runId: run.id })).toMatch(/^The budget of the run Small of € 60.00/)
    expect(await reason(81)).toMatch(/^The owner’s budget for the month of € 80.00 is too low for € 81.00/)
    await declare(0, 60)
    const { heldEuros } = await bodyOf(client.agents.balance({ params: { id: String(ids[0]) } }))
    expect(heldEuros).toBe(80)
  })

  test('starts again with each day and each month', async () => {
    const { client, declare, limit, ownerId } = await anOwnerWithAgents()
    const start = Date.UTC(new Date().getUTCFullYear() + 1, 0, 30, 12)
    await service.sql(`insert into tenant_clocks values ($1, 'test', $2)`, [ownerId, start - Date.now()])
    await limit({ dailyLimitEuros: 50, monthlyLimitEuros: 80 })
    expect((await declare(0, 50, { expiresInMinutes: 43_200 })).status).toBe('approved')
    expect((await declare(1, 1)).decision.reason).toMatch(/^The owner’s budget for the day/)
    await bodyOf(client.sandbox.advance({ body: { days: 1 } }))
    expect((await declare(1, 31)).decision.reason).toMatch(/^The owner’s budget for the month/)
    expect((await declare(1, 30)).status).toBe('approved')
    await bodyOf(client.sandbox.advance({ body: { days: 1 } }))
    expect((await declare(0, 50)).status).toBe('approved')
    await expectOwnerSum(ownerId)
  })
})

describe('a budget that is set after agents have spent', () => {
  test('counts what was paid and is held before, and what becomes of it', async () => {
    const { client, declare, limit, budget, ownerId, ids } = await anOwnerWithAgents(2)
    const payee = (await aWallet(client)).id
    const { id: beneficiaryId } = await aBeneficiary(client)
    const wallets = await Promise.all(
      ids.map(async id => (await bodyOf(client.agents.get({ params: { id } }))).walletId),
    )
    const pay = (n: number, intentId: string, amountEuros: number, members = {}) =>
      bodyOf(
        client.transfers.create({
          body: { fromWalletId: String(wallets[n]), amountEuros, intentId, ...members },
        }),
      )
    const paid = await declare(0, 20, { walletId: payee })
    await pay(0, paid.id, 20, { toWalletId: payee })
    const held = await declare(1, 30, { walletId: payee })
    const cancelled = await declare(0, 5)
    const rejected = await declare(1, 666.01, { beneficiaryId })
    await pay(1, rejected.id, 666.01, { beneficiaryId })
    const day = (await limit({ dailyLimitEuros: 1_000, monthlyLimitEuros: 2_000 })).day
    expect(day).toEqual({ heldEuros: 701.01, spentEuros: 20, remainingEuros: 278.99 })
    expect((await declare(0, 279)).status).toBe('denied')
    await pay(1, held.id, 25, { toWalletId: payee })
    await bodyOf(client.intents.cancel({ params: { id: cancelled.id } }))
    await bodyOf(client.sandbox.advance({ body: { minutes: 2 } }))
    expect((await budget()).day).toEqual({ heldEuros: 0, spentEuros: 45, remainingEuros: 955 })
    await expectOwnerSum(ownerId)
  })

  test('misses nothing that is under way at that moment, not even of new agents', async () => {
    const { anyClient, anAgent, declare, tryDeclare, limit, ownerId } = await anOwnerWithAgents(3)
    const earlier = await times(12, n => declare(n, 1))
    await Promise.all([
      times(60, n => tryDeclare(n, 1)),
      times(12, n => anyClient(n).intents.cancel({ params: { id: String(earlier[n]?.id) } })),
      times(6, async n => tryDeclare(n, 1, (await anAgent()).id)),
      limit({ dailyLimitEuros: 50 }),
      limit({ dailyLimitEuros: 50, monthlyLimitEuros: 60 }),
    ])
    await expectOwnerSum(ownerId)
    await limit({})
    await declare(0, 1)
    await limit({ dailyLimitEuros: 1_000 })
    await expectOwnerSum(ownerId)
  })
})

test('a decision under an owner’s budget gives the same result again, and a backtest counts the budget', async () => {
  const { client, declare, limit, ownerId } = await anOwnerWithAgents(1)
  await limit({ dailyLimitEuros: 50 })
  for (const amount of [40, 20]) await declare(0, amount)
  const stored = await service.sql<
    Parameters<typeof decideAgain>[0] & { rules: Record<string, unknown>; reason: string }
  >(
    `select d.request, d.counters, d.result ->> 'reason' as reason, v.rules from decisions d
     join policy_versions v on v.policy_id = d.policy_id and v.version = d.policy_version where d.owner_id = $1`,
    [ownerId],
  )
  expect(stored).toHaveLength(2)
  for (const { rules, reason, ...inputs } of stored) expect(decideAgain(inputs, rules).reason).toBe(reason)
  const { id } = await aPolicy(client, { autoApproveLimitEuros: 1_000, maxTransactionEuros: 30 })
  const body = { from: '2026-01-01T00:00:00.000Z', to: '2100-01-01T00:00:00.000Z' }
  const backtest = await bodyOf(client.policies.backtest({ params: { id }, body }))
  expect(backtest).toMatchObject({ newlyDenied: { count: 1 }, newlyAllowed: { count: 1 } })
  expect(backtest.examples[1]).toMatchObject({
    rule: 'budget',
    wasReason: expect.stringMatching(/^The owner’s/),
  })
})
