import { describe, expect, test } from '@jest/globals'
import { newId } from '../../../src/values/ids.ts'
import { times } from '../../support/at-once.ts'
import { aPayingCard } from '../../support/cards/network.ts'
import { dispute, networkSays, paid } from '../../support/commerce/disputes.ts'
import { bodyOf } from '../../support/factories.ts'
import { inTier } from '../../support/tier.ts'
import { anOwner, ask, service } from './service.ts'

const PAID = 1_000
const REFUND = 300
const DISPUTE = 400

async function aPayment() {
  const owner = await anOwner()
  const { card } = await aPayingCard(owner.client, 100)
  return { ...owner, ...(await paid(owner.client, card.id, PAID / 100)) }
}

/** Pending refunds and disputed amounts of a payment, and how much of them the payment itself records. */
async function takenOf(transactionId: string) {
  const [row] = await service.sql<{ awaited: number; disputed: number; noted: number }>(
    `select disputed_cents::int as noted,
       (select coalesce(sum(amount_cents - arrived_cents), 0)::int from refunds r
        where r.transaction_id = t.id and status = 'pending') as awaited,
       (select coalesce(sum(counted_cents), 0)::int from disputes d where d.transaction_id = t.id) as disputed
     from transactions t where id = $1`,
    [transactionId],
  )
  if (!row) throw new Error(`${transactionId}: no such payment`)
  return row
}

/** Inserts a copy of a record directly, in its own transaction; false if the constraint refuses it. */
async function copied(table: 'refunds' | 'disputes', id: string, members: object): Promise<boolean> {
  const copy = JSON.stringify({ id: newId(table === 'refunds' ? 'refund' : 'dispute'), ...members })
  const insert = `insert into ${table} select (jsonb_populate_record(one, $2)).* from ${table} one where id = $1`
  try {
    await service.sql(insert, [id, copy])
    return true
  } catch (error) {
    expect(error).toMatchObject({ code: '23514', constraint: `${table}_fit_payment` })
    return false
  }
}

describe('refunds and disputes of one payment', () => {
  test('of two processes at once are taken as far as they fit, and no further', async () => {
    for (let round = 0; round < inTier(2, 20); round++) {
      const { any, transactionId } = await aPayment()
      const answers = await times(9, async n => {
        const isDispute = n % 3 === 0
        const { status } = isDispute
          ? await dispute(any(n), transactionId, { amountEuros: DISPUTE / 100 })
          : await ask(any(n), transactionId, REFUND / 100)
        return { isDispute, isTaken: status === 201 }
      })
      const taken = (ofDispute: boolean): number =>
        answers.filter(({ isDispute, isTaken }) => isTaken && isDispute === ofDispute).length
      const { awaited, disputed, noted } = await takenOf(transactionId)
      expect([awaited, disputed, noted]).toEqual([taken(false) * REFUND, taken(true) * DISPUTE, disputed])
      // Three refunds, or the dispute and two refunds: nothing more fits in either case.
      expect([900, 1_000]).toContain(awaited + disputed)
    }
  })

  test('are kept within it by the database alone', async () => {
    const { client, transactionId } = await aPayment()
    const refund = await bodyOf(ask(client, transactionId, REFUND / 100))
    const ended = await bodyOf(dispute(client, transactionId, { amountEuros: 1 }))
    await bodyOf(client.disputes.withdraw({ params: { id: ended.id } }))
    const answers = await times(12, n =>
      n % 3 === 0
        ? copied('disputes', ended.id, { amount_cents: DISPUTE, counted_cents: DISPUTE })
        : copied('refunds', refund.id, { amount_cents: REFUND, workflow_id: null }),
    )
    expect(new Set(answers)).toEqual(new Set([true, false]))
    const { awaited, disputed } = await takenOf(transactionId)
    // In addition to the first refund: two more refunds, or one and a dispute.
    expect([900, 1_000]).toContain(awaited + disputed)
  })

  test('are kept within it by the database where a dispute is raised', async () => {
    const { client, transactionId } = await aPayment()
    await bodyOf(ask(client, transactionId, REFUND / 100))
    const { id } = await bodyOf(dispute(client, transactionId, { amountEuros: DISPUTE / 100 }))
    const raise = (cents: number) =>
      service.sql('update disputes set amount_cents = $2, counted_cents = $2 where id = $1', [id, cents])
    await raise(700)
    await expect(raise(701)).rejects.toMatchObject({
      code: '23514',
      constraint: 'raised_disputes_fit_payment',
    })
  })

  test('do not keep a decision of the network from being taken, which is a fact', async () => {
    const { client, transactionId } = await aPayment()
    const { id } = await bodyOf(dispute(client, transactionId, { amountEuros: 7 }))
    await bodyOf(client.disputes.withdraw({ params: { id } }))
    await bodyOf(ask(client, transactionId, 10))
    const sentAt = new Date(Date.now() + 60_000)
    await networkSays(client, id, 'won', { sentAt })
    expect(await bodyOf(client.disputes.get({ params: { id } }))).toMatchObject({
      status: 'won',
      creditedEuros: 7,
    })
    expect(await takenOf(transactionId)).toEqual({ awaited: 1_000, disputed: 700, noted: 700 })
  })
})
