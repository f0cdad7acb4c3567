import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { limitsIn } from '../../support/control/limits.ts'
import { replayDecisions } from '../../support/control/replays.ts'
import { made } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'
import { times } from '../../support/sample-service.ts'

const service = await startTestService()
const elsewhere = await service.another()
const { expectToMatch, countersOf, someone } = limitsIn(service, elsewhere)

type Step = readonly ['declare' | 'approve' | 'cancel', number]

describe('approved, cancelled and overdue at one instant', () => {
  test('nothing stays reserved, and nothing is given back twice', async () => {
    const { declare, any, client, id } = await someone({ autoApproveLimitEuros: 1, dailyLimitEuros: 500 })
    const intents = await times(15, n => declare(20, { expiresInMinutes: 1 }, any(n)))
    await Promise.all([
      ...intents.flatMap(({ id }, n) => [
        any(n).intents.approve({ params: { id } }),
        any(n + 1).intents.cancel({ params: { id } }),
      ]),
      client.sandbox.advance({ body: { minutes: 1 } }),
    ])
    await made(client.sandbox.advance({ body: { minutes: 1 } }))
    for (const { reserved, spent, waiting } of await countersOf(id))
      expect([reserved, spent, waiting]).toEqual(['0', '0', 0])
    await expectToMatch(client, id)
  })
})

describe('whatever happens in which order', () => {
  test('reserved is what paper says, within the limit, and what the ledger holds', async () => {
    const step: fc.Arbitrary<Step> = fc.tuple(
      fc.constantFrom('declare' as const, 'approve' as const, 'cancel' as const),
      fc.integer({ min: 1, max: 40 }),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 15 }), async steps => {
        const { declare, client, id } = await someone({ dailyLimitEuros: 60, autoApproveLimitEuros: 20 })
        const held = new Map<string, number>()
        const used = () => [...held.values()].reduce((sum, one) => sum + one, 0)
        const declared: { id: string; amount: number }[] = []
        for (const [kind, number] of steps) {
          const one = declared[number % (declared.length || 1)]
          if (kind === 'declare') {
            const { id, status } = await declare(number)
            const fits = used() + number <= 60
            expect(status).toBe(fits ? (number <= 20 ? 'approved' : 'created') : 'denied')
            if (status === 'approved') held.set(id, number)
            declared.push({ id, amount: number })
          } else if (one && kind === 'cancel') {
            await client.intents.cancel({ params: { id: one.id } })
            held.delete(one.id)
          } else if (one) {
            const { status } = await client.intents.approve({ params: { id: one.id } })
            if (status === 200) held.set(one.id, one.amount)
          }
          expect(used()).toBeLessThanOrEqual(60)
        }
        const { heldEuros } = await made(client.agents.balance({ params: { id } }))
        expect(heldEuros).toBe(used())
        await expectToMatch(client, id)
      }),
      { numRuns: 8 },
    )
  })

  test('every decision that was stored says the same when it is asked again', async () => {
    expect((await replayDecisions(service)).length).toBeGreaterThan(30)
  })
})
