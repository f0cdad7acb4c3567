import './limits/limits-in-any-order.ts'
import { describe, expect, test } from '@jest/globals'
import { limitsIn } from '../support/control/limits.ts'
import { replayDecisions } from '../support/control/replays.ts'
import { aPolicy, aRun, made } from '../support/factories.ts'
import { startTestService } from '../support/harness.ts'
import { statusCounts, times } from '../support/sample-service.ts'

const service = await startTestService()
const elsewhere = await service.another()
const { countersOf, expectToMatch, someone } = limitsIn(service, elsewhere)

const setClock = (ownerId: string, offset: number) =>
  service.sql(
    `insert into tenant_clocks values ($1, 'test', $2) on conflict (owner_id, mode) do update set offset_ms = $2`,
    [ownerId, Math.round(offset)],
  )

describe('a limit', () => {
  test('that admits exactly seven admits seven of two hundred at once, on two processes', async () => {
    const { any, id, declare, client } = await someone({ dailyLimitEuros: 70 })
    const answers = await times(200, n => declare(10, {}, any(n)))
    expect(statusCounts(answers.map(({ status }) => ({ status: status === 'approved' ? 1 : 0 })))).toEqual({
      0: 193,
      1: 7,
    })
    const denied = answers.find(({ status }) => status === 'denied')
    expect(denied?.decision.reason).toBe('The daily limit of € 70.00 is reached: € 70.00 used, € 0.00 left.')
    await expectToMatch(client, id)
  })

  test('holds for what persons approve at once, each seeing the others', async () => {
    const { any, id, declare, client } = await someone({ monthlyLimitEuros: 70, autoApproveLimitEuros: 1 })
    const intents = await times(30, n => declare(10, {}, any(n)))
    expect(await countersOf(id)).toMatchObject([{ reserved: '0' }, { reserved: '0' }, { reserved: '0' }])
    const answers = await times(30, n => any(n).intents.approve({ params: { id: String(intents[n]?.id) } }))
    expect(statusCounts(answers)).toEqual({ 200: 7, 400: 23 })
    expect(new Set(answers.filter(({ status }) => status === 400).map(({ code }) => code))).toEqual(
      new Set(['against_policy']),
    )
    await expectToMatch(client, id)
  })

  test('of payments admits as many, and is begun anew with a policy that is assigned again', async () => {
    const { any, id, declare, client, agent } = await someone({ maxUsageCount: 3 })
    const answers = await times(20, n => declare(1, {}, any(n)))
    expect(answers.filter(({ status }) => status === 'approved')).toHaveLength(3)
    const template = (await aPolicy(client, { maxUsageCount: 2, autoApproveLimitEuros: 50 })).id
    await made(client.policies.assign({ params: { agentId: agent.id }, body: { policyId: template } }))
    const [first] = answers.filter(({ status }) => status === 'approved')
    await made(client.intents.cancel({ params: { id: String(first?.id) } }))
    const later = await times(5, n => declare(1, {}, any(n)))
    expect(later.filter(({ status }) => status === 'approved')).toHaveLength(2)
    await expectToMatch(client, id)
  })

  test('of nothing denies everything, and is not the same as none', async () => {
    for (const rules of [{ dailyLimitEuros: 0 }, { monthlyLimitEuros: 0 }, { maxTransactionEuros: 0 }]) {
      const { declare } = await someone(rules)
      expect((await declare(0.01)).status).toBe('denied')
    }
  })

  test('is free again for what was cancelled, denied or has expired', async () => {
    const { declare, client, id } = await someone({ dailyLimitEuros: 20 })
    const first = await declare(20, { expiresInMinutes: 1 })
    expect((await declare(0.01)).status).toBe('denied')
    await made(client.intents.cancel({ params: { id: first.id } }))
    const second = await declare(20, { expiresInMinutes: 1 })
    expect(second.status).toBe('approved')
    await made(client.sandbox.advance({ body: { minutes: 1 } }))
    expect((await declare(20)).status).toBe('approved')
    await expectToMatch(client, id)
  })

  test('counts the tolerance with what is held, and never more than it leaves', async () => {
    const { declare, client, id } = await someone({ dailyLimitEuros: 100, amountTolerancePercent: 10 })
    expect((await declare(80)).status).toBe('approved')
    expect((await declare(12.01)).status).toBe('denied')
    expect((await declare(12)).status).toBe('approved')
    expect((await made(client.agents.balance({ params: { id } }))).heldEuros).toBe(100)
    await expectToMatch(client, id)
  })
})

describe('the boundary of day and month', () => {
  const lastInstant = Date.UTC(2027, 0, 31, 23, 59, 59, 0)

  test('is midnight of UTC by the owner’s clock; what is given back goes to the day from which it was', async () => {
    const { declare, client, ownerId, id } = await someone({ dailyLimitEuros: 50, monthlyLimitEuros: 60 })
    await setClock(ownerId, lastInstant - Date.now() - 60_000)
    const before = await declare(50, { expiresInMinutes: 60 })
    expect([before.status, before.createdAt.slice(0, 10)]).toEqual(['approved', '2027-01-31'])
    expect((await declare(10)).decision.reason).toMatch(/^The daily limit/)
    await setClock(ownerId, lastInstant + 2_000 - Date.now())
    const after = await declare(50)
    expect([after.status, after.createdAt.slice(0, 10)]).toEqual(['approved', '2027-02-01'])
    await made(client.intents.cancel({ params: { id: before.id } }))
    const rows = await service.sql(
      'select period, reserved_cents as reserved from counters where subject = $1 order by period',
      [id],
    )
    expect(rows).toEqual([
      { period: 'all', reserved: '5000' },
      { period: 'day:2027-01-31', reserved: '0' },
      { period: 'day:2027-02-01', reserved: '5000' },
      { period: 'month:2027-01', reserved: '0' },
      { period: 'month:2027-02', reserved: '5000' },
    ])
  })
})

describe('midnight of a month’s last day in the middle of a burst', () => {
  test('lets as many pass before as after, each counted on its own day, on two processes', async () => {
    const { any, id, declare, ownerId, client } = await someone({ monthlyLimitEuros: 70 })
    const midnight = '2027-02-01T00:00:00.000Z'
    await setClock(ownerId, Date.parse(midnight) - Date.now() - 200)
    const answers: Awaited<ReturnType<typeof declare>>[] = []
    const on = (isAfter: boolean) => answers.filter(({ createdAt }) => createdAt >= midnight === isAfter)
    while (on(true).length < 20) answers.push(...(await times(10, n => declare(10, {}, any(n)))))
    const approved = (isAfter: boolean) => on(isAfter).filter(({ status }) => status === 'approved').length
    expect([approved(false), approved(true)]).toEqual([Math.min(on(false).length, 7), 7])
    const counted = await service.sql(
      `select period, reserved_cents::int / 1000 as approved from counters
       where subject = $1 and period like 'month:%' and reserved_cents > 0 order by period`,
      [id],
    )
    expect(counted.filter(one => one.period === 'month:2027-02')).toEqual([
      { period: 'month:2027-02', approved: 7 },
    ])
    expect(counted.filter(one => one.period === 'month:2027-01')).toEqual(
      approved(false) > 0 ? [{ period: 'month:2027-01', approved: approved(false) }] : [],
    )
    await expectToMatch(client, id)
  })
})

describe('an approval', () => {
  test('is by the policy as it is then, which the decision says', async () => {
    const { declare, client, agent } = await someone({ autoApproveLimitEuros: 1 })
    const intent = await declare(20)
    expect(intent.decision.policyVersion).toBe(1)
    const tight = await aPolicy(client, { maxTransactionEuros: 19.99 })
    await made(client.policies.assign({ params: { agentId: agent.id }, body: { policyId: tight.id } }))
    const params = { id: intent.id }
    const refused = await client.intents.approve({ params })
    expect([refused.status, refused.code, refused.error]).toEqual([
      400,
      'against_policy',
      '€ 20.00 is above the limit of € 19.99 for one payment.',
    ])
    expect((await made(client.intents.get({ params }))).status).toBe('created')
    const wide = await aPolicy(client, { maxTransactionEuros: 20 })
    await made(client.policies.assign({ params: { agentId: agent.id }, body: { policyId: wide.id } }))
    const approved = await made(client.intents.approve({ params }))
    expect(approved.decision).toMatchObject({ policyVersion: 3, allowed: true })
    const stored = await service.sql(
      'select policy_version as version, result -> $2 as allowed from decisions where subject_id = $1 order by id',
      [intent.id, 'allowed'],
    )
    expect(stored).toEqual([
      { version: 1, allowed: true },
      { version: 2, allowed: false },
      { version: 3, allowed: true },
    ])
  })
})

describe('a second intent like the first', () => {
  test('in the same run always waits for a person, and says which one it may be', async () => {
    const { declare, client, id } = await someone({})
    const runId = (await aRun(client, id)).id
    const one = await declare(10, { merchant: 'Bücher & Söhne', runId })
    const other = await declare(10, { merchant: 'bücher   & SÖHNE', runId })
    expect(other).toMatchObject({ status: 'created', possibleDuplicateOf: one.id })
    expect(other.decision.checks.find(({ outcome }) => outcome === 'review')?.rule).toBe('possibleDuplicate')
    expect((await declare(10.01, { merchant: 'Bücher & Söhne', runId })).possibleDuplicateOf).toBeNull()
    expect((await made(client.intents.approve({ params: { id: other.id } }))).status).toBe('approved')
  })

  test('is none ten minutes later, or where the first one came to nothing', async () => {
    const { declare, client, ownerId, id } = await someone({})
    const members = { merchant: 'Bookshop', runId: (await aRun(client, id)).id }
    const one = await declare(10, members)
    await made(client.intents.cancel({ params: { id: one.id } }))
    expect((await declare(10, members)).possibleDuplicateOf).toBeNull()
    await setClock(ownerId, 10 * 60_000)
    expect((await declare(10, members)).status).toBe('approved')
  })

  test('is found among many at once: one of them goes through', async () => {
    const { declare, any, client, id } = await someone({})
    const members = { merchant: 'Bookshop', runId: (await aRun(client, id)).id }
    const answers = await times(20, n => declare(10, members, any(n)))
    expect(answers.filter(({ status }) => status === 'approved')).toHaveLength(1)
    expect(answers.filter(({ possibleDuplicateOf }) => possibleDuplicateOf)).toHaveLength(19)
  })
})

test('every decision of all these, asked again, says the same', async () => {
  expect((await replayDecisions(service)).length).toBeGreaterThan(250)
})
