import './limits/limits-at-random.ts'
import { describe, expect, test } from '@jest/globals'
import { statusCounts, times } from '../support/at-once.ts'
import { expectSameDecisions } from '../support/control/decide-again.ts'
import { limitsIn } from '../support/control/limits.ts'
import { aPolicy, aRun, bodyOf } from '../support/factories.ts'
import { startTestService } from '../support/harness.ts'

const service = await startTestService({ own: true })
const secondUrl = await service.another()
const { countersOf, expectLedgerMatch, anOwnerWithAgent } = limitsIn(service, secondUrl)

/** A test clock only moves forward, so the tests use the end of next year's January. */
const NEXT_YEAR = new Date().getUTCFullYear() + 1

const setClock = (ownerId: string, offset: number) =>
  service.sql(
    `insert into tenant_clocks values ($1, 'test', $2) on conflict (owner_id, mode) do update set offset_ms = $2`,
    [ownerId, Math.round(offset)],
  )

describe('the limit of a policy', () => {
  test('that allows exactly seven allows seven of two hundred at once, on two processes', async () => {
    const { anyClient, id, declare, client } = await anOwnerWithAgent({ dailyLimitEuros: 70 })
    const answers = await times(200, n => declare(10, {}, anyClient(n)))
    expect(statusCounts(answers.map(({ status }) => ({ status: status === 'approved' ? 1 : 0 })))).toEqual({
      0: 193,
      1: 7,
    })
    const denied = answers.find(({ status }) => status === 'denied')
    expect(denied?.decision.reason).toBe('The daily limit of € 70.00 is reached: € 70.00 used, € 0.00 left.')
    await expectLedgerMatch(client, id)
  })

  test('a limit is not exceeded by concurrent approvals', async () => {
    const { anyClient, id, declare, client } = await anOwnerWithAgent({
      monthlyLimitEuros: 70,
      autoApproveLimitEuros: 1,
    })
    const intents = await times(30, n => declare(10, {}, anyClient(n)))
    expect(await countersOf(id)).toMatchObject([{ reserved: '0' }, { reserved: '0' }, { reserved: '0' }])
    const answers = await times(30, n =>
      anyClient(n).intents.approve({ params: { id: String(intents[n]?.id) } }),
    )
    expect(statusCounts(answers)).toEqual({ 200: 7, 400: 23 })
    expect(new Set(answers.filter(({ status }) => status === 400).map(({ code }) => code))).toEqual(
      new Set(['against_policy']),
    )
    await expectLedgerMatch(client, id)
  })

  test('a limit on the number of payments starts again when a policy is assigned', async () => {
    const { anyClient, id, declare, client, agent } = await anOwnerWithAgent({ maxUsageCount: 3 })
    const answers = await times(20, n => declare(1, {}, anyClient(n)))
    expect(answers.filter(({ status }) => status === 'approved')).toHaveLength(3)
    const template = (await aPolicy(client, { maxUsageCount: 2, autoApproveLimitEuros: 50 })).id
    await bodyOf(client.policies.assign({ params: { agentId: agent.id }, body: { policyId: template } }))
    const [first] = answers.filter(({ status }) => status === 'approved')
    await bodyOf(client.intents.cancel({ params: { id: String(first?.id) } }))
    const later = await times(5, n => declare(1, {}, anyClient(n)))
    expect(later.filter(({ status }) => status === 'approved')).toHaveLength(2)
    await expectLedgerMatch(client, id)
  })

  test('of zero denies everything, unlike no limit', async () => {
    for (const rules of [{ dailyLimitEuros: 0 }, { monthlyLimitEuros: 0 }, { maxTransactionEuros: 0 }]) {
      const { declare } = await anOwnerWithAgent(rules)
      expect((await declare(0.01)).status).toBe('denied')
    }
  })

  test('gets back what was cancelled or has expired', async () => {
    const { declare, client, id } = await anOwnerWithAgent({ dailyLimitEuros: 20 })
    const first = await declare(20, { expiresInMinutes: 1 })
    expect((await declare(0.01)).status).toBe('denied')
    await bodyOf(client.intents.cancel({ params: { id: first.id } }))
    const second = await declare(20, { expiresInMinutes: 1 })
    expect(second.status).toBe('approved')
    await bodyOf(client.sandbox.advance({ body: { minutes: 1 } }))
    expect((await declare(20)).status).toBe('approved')
    await expectLedgerMatch(client, id)
  })

  test('counts the tolerance, too, up to the limit', async () => {
    const { declare, client, id } = await anOwnerWithAgent({
      dailyLimitEuros: 100,
      amountTolerancePercent: 10,
    })
    expect((await declare(80)).status).toBe('approved')
    expect((await declare(12.01)).status).toBe('denied')
    expect((await declare(12)).status).toBe('approved')
    expect((await bodyOf(client.agents.balance({ params: { id } }))).heldEuros).toBe(100)
    await expectLedgerMatch(client, id)
  })
})

describe('the end of a day and a month', () => {
  const lastInstant = Date.UTC(NEXT_YEAR, 0, 31, 23, 59, 59, 0)

  test('is midnight in UTC by the owner’s clock, and a release counts on the day of the reservation', async () => {
    const { declare, client, ownerId, id } = await anOwnerWithAgent({
      dailyLimitEuros: 50,
      monthlyLimitEuros: 60,
    })
    await setClock(ownerId, lastInstant - Date.now() - 60_000)
    const before = await declare(50, { expiresInMinutes: 60 })
    expect([before.status, before.createdAt.slice(0, 10)]).toEqual(['approved', `${NEXT_YEAR}-01-31`])
    expect((await declare(10)).decision.reason).toMatch(/^The daily limit/)
    await setClock(ownerId, lastInstant + 2_000 - Date.now())
    const after = await declare(50)
    expect([after.status, after.createdAt.slice(0, 10)]).toEqual(['approved', `${NEXT_YEAR}-02-01`])
    await bodyOf(client.intents.cancel({ params: { id: before.id } }))
    const rows = await service.sql(
      'select period, reserved_cents as reserved from counters where subject = $1 order by period',
      [id],
    )
    expect(rows).toEqual([
      { period: 'all', reserved: '5000' },
      { period: `day:${NEXT_YEAR}-01-31`, reserved: '0' },
      { period: `day:${NEXT_YEAR}-02-01`, reserved: '5000' },
      { period: `month:${NEXT_YEAR}-01`, reserved: '0' },
      { period: `month:${NEXT_YEAR}-02`, reserved: '5000' },
    ])
  })
})

describe('the end of a month in the middle of a burst', () => {
  test('allows as many before as after, each counted in its own month, on two processes', async () => {
    const { anyClient, id, declare, ownerId, client } = await anOwnerWithAgent({ monthlyLimitEuros: 70 })
    const midnight = `${NEXT_YEAR}-02-01T00:00:00.000Z`
    await setClock(ownerId, Date.parse(midnight) - Date.now() - 200)
    const answers: Awaited<ReturnType<typeof declare>>[] = []
    const declaredOn = (isAfter: boolean) =>
      answers.filter(({ createdAt }) => createdAt >= midnight === isAfter)
    while (declaredOn(true).length < 20)
      answers.push(...(await times(10, n => declare(10, {}, anyClient(n)))))
    const approved = (isAfter: boolean) =>
      declaredOn(isAfter).filter(({ status }) => status === 'approved').length
    expect([approved(false), approved(true)]).toEqual([Math.min(declaredOn(false).length, 7), 7])
    const months = await service.sql(
      `select period, reserved_cents::int / 1000 as approved from counters
       where subject = $1 and period like 'month:%' and reserved_cents > 0 order by period`,
      [id],
    )
    expect(months.filter(({ period }) => period === `month:${NEXT_YEAR}-02`)).toEqual([
      { period: `month:${NEXT_YEAR}-02`, approved: 7 },
    ])
    expect(months.filter(({ period }) => period === `month:${NEXT_YEAR}-01`)).toEqual(
      approved(false) > 0 ? [{ period: `month:${NEXT_YEAR}-01`, approved: approved(false) }] : [],
    )
    await expectLedgerMatch(client, id)
  })
})

describe('an approval', () => {
  test('is decided by the policy’s current version, which the decision names', async () => {
    const { declare, client, agent } = await anOwnerWithAgent({ autoApproveLimitEuros: 1 })
    const intent = await declare(20)
    expect(intent.decision.policyVersion).toBe(1)
    const tight = await aPolicy(client, { maxTransactionEuros: 19.99 })
    await bodyOf(client.policies.assign({ params: { agentId: agent.id }, body: { policyId: tight.id } }))
    const params = { id: intent.id }
    const refused = await client.intents.approve({ params })
    expect([refused.status, refused.code, refused.error]).toEqual([
      400,
      'against_policy',
      '€ 20.00 is above the limit of € 19.99 for one payment.',
    ])
    expect((await bodyOf(client.intents.get({ params }))).status).toBe('created')
    const wide = await aPolicy(client, { maxTransactionEuros: 20 })
    await bodyOf(client.policies.assign({ params: { agentId: agent.id }, body: { policyId: wide.id } }))
    const approved = await bodyOf(client.intents.approve({ params }))
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

describe('a possible duplicate of an intent', () => {
  test('always waits for a person, and names the first intent', async () => {
    const { declare, client, id } = await anOwnerWithAgent({})
    const runId = (await aRun(client, id)).id
    const first = await declare(10, { merchant: 'Bücher & Söhne', runId })
    const duplicate = await declare(10, { merchant: 'bücher   & SÖHNE', runId })
    expect(duplicate).toMatchObject({ status: 'created', possibleDuplicateOf: first.id })
    expect(duplicate.decision.checks.find(({ outcome }) => outcome === 'review')?.rule).toBe(
      'possibleDuplicate',
    )
    expect((await declare(10.01, { merchant: 'Bücher & Söhne', runId })).possibleDuplicateOf).toBeNull()
    expect((await bodyOf(client.intents.approve({ params: { id: duplicate.id } }))).status).toBe('approved')
  })

  test('is no longer one after ten minutes, or once the first intent is cancelled', async () => {
    const { declare, client, ownerId, id } = await anOwnerWithAgent({})
    const members = { merchant: 'Bookshop', runId: (await aRun(client, id)).id }
    const first = await declare(10, members)
    await bodyOf(client.intents.cancel({ params: { id: first.id } }))
    expect((await declare(10, members)).possibleDuplicateOf).toBeNull()
    await setClock(ownerId, 10 * 60_000)
    expect((await declare(10, members)).status).toBe('approved')
  })

  test('is found among twenty at once: only the first is approved', async () => {
    const { declare, anyClient, client, id } = await anOwnerWithAgent({})
    const members = { merchant: 'Bookshop', runId: (await aRun(client, id)).id }
    const answers = await times(20, n => declare(10, members, anyClient(n)))
    expect(answers.filter(({ status }) => status === 'approved')).toHaveLength(1)
    expect(answers.filter(({ possibleDuplicateOf }) => possibleDuplicateOf)).toHaveLength(19)
  })
})

test('every stored decision gives the same result when it is decided again', async () => {
  expect((await expectSameDecisions(service)).length).toBeGreaterThan(250)
})
