import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { aPayingCard } from '../../support/cards/network.ts'
import { bodyOf } from '../../support/factories.ts'
import { expectVerifiedLedger } from '../../support/verified-ledger.ts'
import { anOwner, ask, balanceOf, countedOf, network, refundsOf, transactionOf } from './service.ts'

const PAID = 2_000

/** Steps on a payment of € 20: a refund is requested, the network sends a credit, the newest request is cancelled. */
type Step = readonly ['ask' | 'credit' | 'cancel', cents: number]

const step: fc.Arbitrary<Step> = fc.tuple(
  fc.constantFrom('ask', 'ask', 'credit', 'credit', 'cancel'),
  fc.integer({ min: 1, max: 1_500 }),
)

interface Awaited {
  amount: number
  arrived: number
}

/** The expected result, computed from the rules alone. */
class Oracle {
  back = 0
  above = 0
  readonly awaited: Awaited[] = []

  get left(): number {
    return PAID - this.back - this.awaited.reduce((sum, { amount, arrived }) => sum + amount - arrived, 0)
  }

  ask(cents: number): boolean {
    const isLeft = cents <= this.left
    if (isLeft) this.awaited.push({ amount: cents, arrived: 0 })
    return isLeft
  }

  cancel(): boolean {
    return this.awaited.pop() !== undefined
  }

  credit(cents: number): void {
    const ofPayment = Math.min(cents, PAID - this.back)
    this.back += ofPayment
    this.above += cents - ofPayment
    const open = this.awaited.toSorted(
      (one, other) =>
        Number(other.amount - other.arrived === ofPayment) - Number(one.amount - one.arrived === ofPayment),
    )
    let rest = ofPayment
    for (const one of open) {
      const part = Math.min(one.amount - one.arrived, rest)
      one.arrived += part
      rest -= part
    }
    for (const one of this.awaited.filter(({ amount, arrived }) => arrived === amount))
      this.awaited.splice(this.awaited.indexOf(one), 1)
  }
}

const euros = (cents: number): number => cents / 100

describe('asking for money of a card payment and the credits of the network, in any order', () => {
  test('never come to more than was paid, save by facts, and the ledger agrees', async () => {
    const follow = async (steps: readonly Step[]): Promise<void> => {
      const { client, any } = await anOwner()
      const { agent, card } = await aPayingCard(client, 100)
      const { authorizationId } = await network.authorize(card.id, euros(PAID))
      await network.clear(card.id, authorizationId, euros(PAID))
      const { data } = await bodyOf(client.transactions.list({ query: { cardId: card.id } }))
      const id = String(data[0]?.id)
      const oracle = new Oracle()
      const asked: string[] = []
      for (const [n, [what, cents]] of steps.entries()) {
        if (what === 'ask') {
          const answer = await ask(any(n), id, euros(cents))
          expect([steps, answer.status === 201]).toEqual([steps, oracle.ask(cents)])
          if (answer.status === 201) asked.push(answer.body.id)
        }
        if (what === 'credit') {
          await network.refund(card.id, authorizationId, euros(cents))
          oracle.credit(cents)
        }
        if (what === 'cancel') {
          const open = (await refundsOf(client, id)).filter(({ status }) => status === 'pending')
          const newest = open.toSorted((one, other) => asked.indexOf(one.id) - asked.indexOf(other.id)).at(-1)
          if (newest) await bodyOf(any(n).refunds.cancel({ params: { id: newest.id } }))
          expect(newest !== undefined).toBe(oracle.cancel())
        }
      }
      const refunds = await refundsOf(client)
      const arrived = (isOfPayment: boolean): number =>
        refunds
          .filter(({ transactionId }) => (transactionId !== null) === isOfPayment)
          .reduce((sum, { arrivedEuros }) => sum + Math.round(arrivedEuros * 100), 0)
      const { status, refundedEuros } = await transactionOf(client, id)
      expect({
        back: Math.round(refundedEuros * 100),
        recorded: [arrived(true), arrived(false)],
        isWhole: status === 'refunded',
        balance: Math.round((await balanceOf(client, agent.walletId)) * 100),
        counted: await countedOf([agent.id]),
      }).toEqual({
        back: oracle.back,
        recorded: [oracle.back, oracle.above],
        isWhole: oracle.back === PAID,
        balance: 10_000 - PAID + oracle.back + oracle.above,
        counted: [{ reserved: 0, spent: PAID - oracle.back, uses: 1 }],
      })
      await expectVerifiedLedger(client)
    }
    await fc.assert(fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 8 }), follow), {
      numRuns: 12,
      verbose: 1,
      endOnFailure: true,
    })
  })

  test('all at once end within what was paid', async () => {
    const { client, any } = await anOwner()
    const { agent, card } = await aPayingCard(client, 100)
    const { authorizationId } = await network.authorize(card.id, euros(PAID))
    await network.clear(card.id, authorizationId, euros(PAID))
    const { data } = await bodyOf(client.transactions.list({ query: { cardId: card.id } }))
    const id = String(data[0]?.id)
    await Promise.all([
      ...[0, 1, 2, 3, 4, 5].map(n => ask(any(n), id, 5)),
      network.refund(card.id, authorizationId, 8),
      network.refund(card.id, authorizationId, 12),
    ])
    expect(await transactionOf(client, id)).toMatchObject({ status: 'refunded', refundedEuros: 20 })
    const refunds = await refundsOf(client, id)
    expect(refunds.reduce((sum, { arrivedEuros }) => sum + arrivedEuros, 0)).toBe(20)
    expect(await balanceOf(client, agent.walletId)).toBe(100)
    await expectVerifiedLedger(client)
  })
})
