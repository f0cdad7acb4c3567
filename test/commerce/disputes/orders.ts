import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { balanceOf } from '../../support/cards/simulated.ts'
import { aDispute, aPaidCard, getDispute, networkSays } from '../../support/commerce/disputes.ts'
import { bodyOf } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'
import { expectVerifiedLedger } from '../../support/verified-ledger.ts'

const service = await startTestService({ own: true })

type Step =
  | { readonly kind: 'refund'; readonly euros: number }
  | { readonly kind: 'said'; readonly says: 'credited' | 'won' | 'lost'; readonly day: number }

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constant('refund' as const), euros: fc.constantFrom(10, 25) }),
  fc.record({
    kind: fc.constant('said' as const),
    says: fc.constantFrom('credited', 'won', 'lost'),
    day: fc.integer({ min: 1, max: 28 }),
  }),
)

const EUROS = 60

/** The owner's money by the rules alone: the merchant's refunds, and the dispute's part of the rest. */
function expected(steps: readonly Step[], isCovered: boolean): number {
  const refunded = steps.reduce((sum, one) => (one.kind === 'refund' ? sum + one.euros : sum), 0)
  const left = Math.max(0, EUROS - refunded)
  const said = steps.flatMap(one => (one.kind === 'said' ? one : []))
  const ranks = ['credited', 'won', 'lost']
  const last = said.sort(
    (one, other) => one.day - other.day || ranks.indexOf(one.says) - ranks.indexOf(other.says),
  )
  const pays = last.length > 0 && last.at(-1)?.says !== 'lost'
  return refunded + (isCovered || pays ? left : 0)
}

describe('refunds and reports of the network in any order', () => {
  test('leave the owner with the same money, never above the payment save by what the merchant has sent', () =>
    fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 5 }), fc.boolean(), async (steps, isCovered) => {
        const { client, agent, transactionId, authorizationId } = await aPaidCard(service, EUROS)
        const reason = isCovered ? 'unauthorized' : 'not_received'
        const { id } = await aDispute(client, transactionId, { reason })
        await Promise.all(
          steps.map((one, index) =>
            one.kind === 'refund'
              ? bodyOf(
                  client.sandbox.refundCard({
                    body: { authorizationId, amountEuros: one.euros, refundId: `refund_${index}` },
                  }),
                )
              : networkSays(client, id, one.says, { sentAt: new Date(Date.UTC(2027, 0, one.day)) }),
          ),
        )
        const [available] = await balanceOf(client, agent.id)
        expect(available).toBe(300 - EUROS + expected(steps, isCovered))
        const { creditedEuros, refundedEuros } = await getDispute(client, id)
        expect(creditedEuros + refundedEuros).toBeLessThanOrEqual(EUROS)
        await expectVerifiedLedger(client)
      }),
      { numRuns: 5 },
    ))
})
