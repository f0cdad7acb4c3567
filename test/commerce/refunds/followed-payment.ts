import { aPayingCard } from '../../support/cards/network.ts'
import { dispute, networkSays } from '../../support/commerce/disputes.ts'
import { bodyOf, type TestClient } from '../../support/factories.ts'
import type { Step } from './oracle.ts'
import { anOwner, ask, network, refundsOf, service } from './service.ts'

export const PAID = 2_000
export const FUNDS = 10_000
const HOUR_MS = 3_600_000

const euros = (cents: number): number => cents / 100
const centsOf = (amount: number): number => Math.round(amount * 100)

export class Payment {
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

  /** Takes the step in one of two processes; false if it is refused. */
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

  /** Each report is sent after earlier ones: an hour before now, and after a withdrawal an hour after it. */
  async #says(client: TestClient, says: 'credited' | 'won' | 'lost'): Promise<boolean> {
    if (this.#disputeId === undefined) return false
    const from = Date.now() + (this.#isWithdrawn ? HOUR_MS : -HOUR_MS)
    await networkSays(client, this.#disputeId, says, { sentAt: new Date(from + this.#steps * 60_000) })
    return true
  }

  #isDeleted = false

  /** The agent is deleted and its wallet closed; the money goes to the owner. */
  async #delete(client: TestClient): Promise<boolean> {
    if (!this.#isCleared) return false
    if (this.#isDeleted) return true
    this.#isDeleted = true
    await bodyOf(client.agents.delete({ params: { id: this.agentId } }))
    await bodyOf(client.sandbox.advance({ body: { minutes: 1 } }))
    return true
  }

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

  /** All wallets and suspense, less debts. */
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
