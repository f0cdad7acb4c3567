import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { times } from '../../support/at-once.ts'
import { expectSameDecisions } from '../../support/control/decide-again.ts'
import { limitsIn } from '../../support/control/limits.ts'
import { bodyOf } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'

const service = await startTestService({ own: true })
const secondUrl = await service.another()
const { expectLedgerMatch, countersOf, anOwnerWithAgent } = limitsIn(service, secondUrl)

type Step = readonly ['declare' | 'approve' | 'cancel', number]

describe('intents approved, cancelled and expired at once', () => {
  test('leave nothing reserved and release nothing twice', async () => {
    const { declare, anyClient, client, id } = await anOwnerWithAgent({
      autoApproveLimitEuros: 1,
      dailyLimitEuros: 500,
    })
    const intents = await times(15, n => declare(20, { expiresInMinutes: 1 }, anyClient(n)))
    await Promise.all([
      ...intents.flatMap(({ id }, n) => [
        anyClient(n).intents.approve({ params: { id } }),
        anyClient(n + 1).intents.cancel({ params: { id } }),
      ]),
      client.sandbox.advance({ body: { minutes: 1 } }),
    ])
    await bodyOf(client.sandbox.advance({ body: { minutes: 1 } }))
    for (const { reserved, spent, waiting } of await countersOf(id))
      expect([reserved, spent, waiting]).toEqual(['0', '0', 0])
    await expectLedgerMatch(client, id)
  })
})

describe('after any steps in any order', () => {
  test('the reserved sum is the expected one, within the limit and equal to the ledger’s', async () => {
    const step: fc.Arbitrary<Step> = fc.tuple(
      fc.constantFrom('declare' as const, 'approve' as const, 'cancel' as const),
      fc.integer({ min: 1, max: 40 }),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 15 }), async steps => {
        const { declare, client, id } = await anOwnerWithAgent({
          dailyLimitEuros: 60,
          autoApproveLimitEuros: 20,
        })
        const held = new Map<string, number>()
        const used = () => [...held.values()].reduce((sum, amount) => sum + amount, 0)
        const declared: { id: string; amount: number }[] = []
        for (const [kind, number] of steps) {
          const intent = declared[number % (declared.length || 1)]
          if (kind === 'declare') {
            const { id, status } = await declare(number)
            const fits = used() + number <= 60
            expect(status).toBe(fits ? (number <= 20 ? 'approved' : 'created') : 'denied')
            if (status === 'approved') held.set(id, number)
            declared.push({ id, amount: number })
          } else if (intent && kind === 'cancel') {
            await client.intents.cancel({ params: { id: intent.id } })
            held.delete(intent.id)
          } else if (intent) {
            const { status } = await client.intents.approve({ params: { id: intent.id } })
            if (status === 200) held.set(intent.id, intent.amount)
          }
          expect(used()).toBeLessThanOrEqual(60)
        }
        const { heldEuros } = await bodyOf(client.agents.balance({ params: { id } }))
        expect(heldEuros).toBe(used())
        await expectLedgerMatch(client, id)
      }),
      { numRuns: 8 },
    )
  })

  test('every stored decision gives the same result when it is decided again', async () => {
    expect((await expectSameDecisions(service)).length).toBeGreaterThan(30)
  })
})
