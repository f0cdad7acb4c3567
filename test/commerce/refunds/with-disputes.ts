import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { aPayingCard } from '../../support/cards/network.ts'
import { dispute, networkSays } from '../../support/commerce/disputes.ts'
import { bodyOf, type TestClient } from '../../support/factories.ts'
import { expectVerifiedLedger } from '../../support/verified-ledger.ts'
import { Oracle, type Step } from './oracle.ts'
import { anOwner, ask, countedOf, network, refundsOf, service } from './service.ts'

const PAID = 2_000
const FUNDS = 10_000
const HOUR_MS = 3_60_000

const euros = (cents: number): number => cents / 100
const centsOf = (amount: number): number => Math.round(amount * 100)

/** Few amounts, so that a credit often is just what was asked for, and a dispute just what is left. */
const cents = fc.constantFrom(300, 500, 700, 1_200, 2_000)

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constantFrom('clear', 'cancel', 'withdraw') }),
  fc.record({ kind: fc.constant('delete' as const) }),
  fc.record({ kind: fc.constant('ask' as const), cents }),
  fc.record({ kind: fc.constant('credit' as const), cents, isNamed: fc.boolean() }),
  fc.record({ kind: fc.constant('dispute' as const), cents, isUnauthorized: fc.boolean() }),
  fc.record({ kind: fc.constant('says' as const), says: fc.constantFrom('credited', 'won', 'lost') }),
)

/** Mostly the merchant collects first; what comes before that is tried as well. */
const story: fc.Arbitrary<Step[]> = fc
  .tuple(fc.integer({ min: 0, max: 4 }), fc.array(step, { minLength: 2, maxLength: 9 }))
  .map(([at, steps]) => steps.toSpliced(at === 4 ? 1 : 0, 0, { kind: 'clear' }))

/** One payment by card of € 20, with all that can happen to it. */
class Payment {
  readonly #any: (n: number) => TestClient
  readonly client: TestClient
  readonly agentId: string
  readonly #cardId: string
  readonly #authorizationId: string
  readonly id: string
  #steps = 0
  #disputeId: string | undefined
  #isWithdrawn = false

  constructor(
    { any, client }: Pick<Awaited<ReturnType<typeof anOwner>>, 'any' | 'client'>,
    ids: Readonly<Record<'agentId' | 'cardId' | 'authorizationId' | 'id', string>>,
  ) {
    this.#any = any
    this.client = client
    this.agentId = ids.agentId
    this.#cardId = ids.cardId
    this.#authorizationId = ids.authorizationId
    this.id = ids.id
  }

  static async begin(): Promise<Payment> {
    const owner = await anOwner()
    const { agent, card } = await aPayingCard(owner.client, euros(FUNDS))
    const { authorizationId } = await network.authorize(card.id, euros(PAID))
    const { data } = await bodyOf(owner.client.transactions.list({ query: { cardId: card.id } }))
    return new Payment(owner, {
      ...{ agentId: agent.id, cardId: card.id, authorizationId },
      id: String(data[0]?.id),
    })
  }

  /** Takes the step by one of two processes; false where it is refused. */
  async take(step: Step): Promise<boolean> {
    const client = this.#any(this.#steps++)
    switch (step.kind) {
      case 'clear':
        return this.#clear()
      case 'ask':
        return (await ask(client, this.id, euros(step.cents))).status === 201
      case 'cancel':
        return this.#cancel(client)
      case 'credit':
        await network.refund(this.#cardId, step.isNamed ? this.#authorizationId : null, euros(step.cents))
        return true
      case 'dispute':
        return this.#dispute(client, step)
      case 'withdraw':
        return this.#withdraw(client)
      case 'says':
        return this.#says(client, step.says)
      case 'delete':
        return this.#delete(client)
    }
  }

  #isCleared = false

  /** The network tells of one clearing. */
  async #clear(): Promise<boolean> {
    if (this.#isCleared) return false
    this.#isCleared = true
    await network.clear(this.#cardId, this.#authorizationId, euros(PAID))
    return true
  }

  async #cancel(client: TestClient): Promise<boolean> {
    const open = (await refundsOf(client, this.id)).filter(({ status }) => status === 'pending')
    const newest = open.at(-1)
    if (!newest) return false
    return (await client.refunds.cancel({ params: { id: newest.id } })).status === 200
  }

  async #dispute(
    client: TestClient,
    { cents: disputed, isUnauthorized }: Extract<Step, { kind: 'dispute' }>,
  ) {
    const reason = isUnauthorized ? 'unauthorized' : 'not_received'
    const answer = await dispute(client, this.id, { reason, amountEuros: euros(disputed) })
    if (answer.status !== 201) return false
    this.#disputeId = answer.body.id
    this.#isWithdrawn = false
    return true
  }

  async #withdraw(client: TestClient): Promise<boolean> {
    if (this.#disputeId === undefined) return false
    const { status } = await client.disputes.withdraw({ params: { id: this.#disputeId } })
    if (status === 200) this.#isWithdrawn = true
    return status === 200
  }

  /** Each word is sent after those before it: an hour before now, and after a withdrawal an hour after it. */
  async #says(client: TestClient, says: 'credited' | 'won' | 'lost'): Promise<boolean> {
    if (this.#disputeId === undefined) return false
    const from = Date.now() + (this.#isWithdrawn ? HOUR_MS : -HOUR_MS)
    await networkSays(client, this.#disputeId, says, { sentAt: new Date(from + this.#steps * 60_000) })
    return true
  }

  #isDeleted = false

  /** The agent goes, and its wallet is closed; the money goes to the owner. */
  async #delete(client: TestClient): Promise<boolean> {
    if (!this.#isCleared) return false
    if (this.#isDeleted) return true
    this.#isDeleted = true
    await bodyOf(client.agents.delete({ params: { id: this.agentId } }))
    await bodyOf(client.sandbox.advance({ body: { minutes: 1 } }))
    return true
  }

  /** What has come back of it, by refunds and by disputes. */
  async back() {
    const [row] = await service.sql<{ back: number; credited: number; kept: number }>(
      `select t.refunded_cents::int as back, coalesce(d.credited, 0)::int as credited, coalesce(d.kept, 0)::int as kept
       from transactions t left join lateral (
         select sum(credited_cents) as credited,
           sum(credited_cents) filter (where status not in ('open', 'submitted')) as kept
         from disputes where transaction_id = t.id) d on true
       where t.id = $1`,
      [this.id],
    )
    return row ?? { back: 0, credited: 0, kept: 0 }
  }

  /** What the owner has in all wallets and in suspense, without what is owed. */
  async worth(): Promise<number> {
    const { data } = await bodyOf(this.client.ledger.accounts({ query: { limit: 100 } }))
    const of = (kind: string): number =>
      data.filter(one => one.kind === kind).reduce((sum, one) => sum + Math.abs(centsOf(one.postedEuros)), 0)
    return of('wallet') + of('suspense') - of('receivable')
  }

  async recorded(isOfPayment: boolean): Promise<number> {
    const refunds = await refundsOf(this.client)
    return refunds
      .filter(({ transactionId }) => (transactionId !== null) === isOfPayment)
      .reduce((sum, { arrivedEuros }) => sum + centsOf(arrivedEuros), 0)
  }
}

/** What should stand by sums alone: of the owner's money, of the records, of the limits. */
interface Sums {
  readonly back: number
  readonly beside: number
  readonly credited: number
  readonly kept: number
}

async function expectAgreement(payment: Payment, { back, beside, credited, kept }: Sums): Promise<void> {
  const worth = FUNDS + beside + back + credited - PAID
  const stands = {
    worth: await payment.worth(),
    recorded: [await payment.recorded(true), await payment.recorded(false)],
    counted: await countedOf([payment.agentId]),
  }
  expect(stands).toEqual({
    worth,
    recorded: [back, beside],
    counted: [{ reserved: 0, spent: PAID - back - kept, uses: 1 }],
  })
  await expectVerifiedLedger(payment.client)
}

async function follow(steps: readonly Step[]): Promise<void> {
  const payment = await Payment.begin()
  const oracle = new Oracle(PAID)
  for (const [n, one] of steps.entries()) {
    const isTaken = await payment.take(one)
    expect([n, one, isTaken]).toEqual([n, one, oracle.take(one)])
    if (!oracle.isCleared) continue
    const { back, credited, kept } = oracle
    expect([n, one, await payment.back()]).toEqual([n, one, { back, credited, kept }])
    expect(back + credited).toBeLessThanOrEqual(PAID)
  }
  await expectAgreement(payment, oracle)
}

/** Two processes take all steps at once, of a payment of which a part is disputed. */
async function followAtOnce([isUnauthorized, ...steps]: readonly [boolean, ...Step[]]): Promise<void> {
  const payment = await Payment.begin()
  await payment.take({ kind: 'clear' })
  await payment.take({ kind: 'dispute', cents: 700, isUnauthorized })
  const isTaken = await Promise.all(steps.map(one => payment.take(one)))
  const sent = steps.reduce((sum, one, n) => (one.kind === 'credit' && isTaken[n] ? sum + one.cents : sum), 0)
  const { back, credited, kept } = await payment.back()
  expect(back + credited).toBeLessThanOrEqual(PAID)
  await expectAgreement(payment, { back, beside: sent - back, credited, kept })
}

const atOnce: fc.Arbitrary<[boolean, ...Step[]]> = fc
  .tuple(fc.boolean(), fc.array(step, { minLength: 2, maxLength: 8 }))
  .map(([isUnauthorized, steps]) => [isUnauthorized, ...steps])

const shown = { verbose: 1, endOnFailure: true } as const

describe('refunds, disputes and credits of the network of one payment', () => {
  test(
    'never come to more than was paid in any order, save by facts, and money, limits and ledger agree',
    () => fc.assert(fc.asyncProperty(story, follow), { numRuns: 20, ...shown }),
    60_000,
  )

  test(
    'never come to more than was paid at one instant, and money, limits and ledger agree',
    () =>
      fc.assert(fc.asyncProperty(atOnce, followAtOnce), {
        numRuns: 10,
        ...shown,
      }),
    60_000,
  )
})
