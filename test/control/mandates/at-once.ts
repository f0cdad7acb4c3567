import { describe, expect, test } from '@jest/globals'
import { times } from '../../support/at-once.ts'
import { expectSameDecisions } from '../../support/control/decide-again.ts'
import { limitsIn } from '../../support/control/limits.ts'
import { deciderOf, inDays, mandatesIn } from '../../support/control/mandates.ts'
import { bodyOf } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'
import { enrolled } from '../../support/identity/people.ts'

const service = await startTestService({ own: true })
const secondUrl = await service.another()
const { anOwnerWithAgent, aMandate, signedMandate, countersOf } = mandatesIn(service, secondUrl)
const { expectLedgerMatch } = limitsIn(service, secondUrl)

const countOf = (deciders: readonly (string | null)[], decider: string): number =>
  deciders.filter(one => one === decider).length

describe('two hundred intents at once, on two processes,', () => {
  test.each([
    ['of which the total leaves room for seven', { totalEuros: 70 }],
    ['of which the month leaves room for seven', { perMonthEuros: 79.99, totalEuros: 1_000 }],
    ['of which seven are counted', { perTransactionEuros: 10, count: 7 }],
  ])('%s: seven are approved by the mandate, the others wait for a person', async (_, constraints) => {
    const owner = await anOwnerWithAgent()
    const mandate = await aMandate(owner, constraints)
    const answers = await times(200, n => owner.buy(10, {}, owner.anyClient(n)))
    const deciders = answers.map(deciderOf)
    expect([countOf(deciders, mandate.id), countOf(deciders, 'nobody')]).toEqual([7, 193])
    expect(await countersOf(mandate.id)).toMatchObject([
      { period: 'all', reserved: '7000', waiting: 7 },
      { period: 'day', reserved: '7000' },
      { period: 'month', reserved: '7000' },
    ])
    await expectLedgerMatch(owner.client, owner.id)
  })

  test('intents inside two mandates use the one that ends first, then the other', async () => {
    const owner = await anOwnerWithAgent()
    const later = await aMandate(owner, { totalEuros: 50 })
    const sooner = await aMandate(owner, { count: 3, totalEuros: 500 }, { expiresAt: inDays(1) })
    const deciders = (await times(60, n => owner.buy(10, {}, owner.anyClient(n)))).map(deciderOf)
    expect([countOf(deciders, sooner.id), countOf(deciders, later.id), countOf(deciders, 'nobody')]).toEqual([
      3, 5, 52,
    ])
  })

  test('concurrent intents, some of them cancelled, never exceed the mandate', async () => {
    const owner = await anOwnerWithAgent()
    const mandate = await aMandate(owner, { totalEuros: 70, count: 7 })
    const first = (await times(20, n => owner.buy(10, {}, owner.anyClient(n)))).filter(
      intent => deciderOf(intent) === mandate.id,
    )
    const [more] = await Promise.all([
      times(60, n => owner.buy(10, {}, owner.anyClient(n))),
      times(7, n => owner.anyClient(n).intents.cancel({ params: { id: String(first[n]?.id) } })),
    ])
    const approved = countOf(more.map(deciderOf), mandate.id)
    const [all] = await countersOf(mandate.id)
    expect(Number(all?.reserved)).toBe(approved * 1_000)
    expect([approved <= 7, all?.waiting]).toEqual([true, approved])
    await expectLedgerMatch(owner.client, owner.id)
  })
})

describe('in the middle of a burst', () => {
  test.each(['suspend', 'revoke'] as const)(
    'nothing is approved by a mandate once the request to %s it is committed',
    async verb => {
      const owner = await anOwnerWithAgent()
      const mandate = await aMandate(owner, { totalEuros: 100_000 })
      const burst = times(150, n => owner.buy(10, {}, owner.anyClient(n)))
      await bodyOf(owner.client.mandates[verb]({ params: mandate, body: {} }))
      // Earlier approvals are committed, so the counters do not change after this.
      const [atChange] = await countersOf(mandate.id)
      const later = (await times(20, n => owner.buy(10, {}, owner.anyClient(n)))).map(deciderOf)
      const deciders = (await burst).map(deciderOf)
      expect(countOf(later, 'nobody')).toBe(20)
      expect(countOf(deciders, mandate.id) + countOf(deciders, 'nobody')).toBe(150)
      const [atEnd] = await countersOf(mandate.id)
      expect(atEnd).toEqual(atChange)
      expect(countOf(deciders, mandate.id)).toBe(atEnd?.waiting ?? 0)
    },
  )
})

describe('while the signer is removed', () => {
  test('no mandate of that person stays active, however close the two requests are', async () => {
    const owner = await anOwnerWithAgent()
    const by = owner.signer
    for (let round = 0; round < 6; round++) {
      const leaver = await enrolled(service, owner, { role: 'approver', by })
      const signer = { ...owner, signer: leaver }
      const bodies = [
        await signedMandate(signer, { totalEuros: 10 }),
        await signedMandate(signer, { totalEuros: 20 }),
      ]
      const [removed, ...made] = await Promise.all([
        owner.anyClient(round).people.remove({ params: { id: leaver.personId } }),
        ...bodies.map((body, n) => owner.anyClient(round + n).mandates.create({ body })),
      ])
      expect(removed.status).toBe(200)
      for (const { status, code } of made)
        expect([201, 'insufficient_role', 'assertion_invalid']).toContain(status === 201 ? status : code)
      const left = await service.sql(`select 1 from mandates where person_id = $1 and status = 'active'`, [
        leaver.personId,
      ])
      expect(left).toEqual([])
    }
  })
})

test('every stored decision gives the same result when it is decided again', async () => {
  expect((await expectSameDecisions(service)).length).toBeGreaterThan(800)
})
