import { describe, expect, test } from '@jest/globals'
import { statusCounts, times } from '../../support/at-once.ts'
import { type Payee, paidRequestsIn } from '../../support/commerce/paid-requests.ts'
import { balanceOf, getRequest } from '../../support/commerce/requests.ts'
import { withoutArrivals } from '../../support/commerce/without-arrivals.ts'
import { aWallet, bodyOf } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'
import { expectSoundLedgers } from '../../support/money/sound-ledgers.ts'

const service = await startTestService({ own: true })
const { anApprovedPayee } = paidRequestsIn(service)

async function aPaidRequest(isOwn = false) {
  const all = await anApprovedPayee({ isOwn })
  const { payer, holder, intent, request } = all
  const { transactionId } = await bodyOf(payer.client.checkout.execute({ body: { intentId: intent.id } }))
  const refund = (amountEuros?: number) =>
    holder.client.collect.refund({
      params: { id: request.id },
      body: amountEuros === undefined ? {} : { amountEuros },
    })
  const transaction = () => bodyOf(payer.client.transactions.get({ params: { id: transactionId } }))
  return { ...all, refund, transaction }
}

const SPENT = `
select distinct spent_cents::int as spent from counters where owner_id = $1 and subject = $2 and spent_cents > 0`

const spentBy = async ({ payer, agent }: Pick<Payee, 'payer' | 'agent'>): Promise<number[]> => {
  const rows = await service.sql<{ spent: number }>(SPENT, [payer.ownerId, agent.id])
  return rows.map(({ spent }) => spent)
}

describe.each([false, true])('a refund of a request that an agent has paid (an own one: %s)', isOwn => {
  test('is back in its wallet and out of its limits, and noted on its payment', async () => {
    const all = await aPaidRequest(isOwn)
    const { payer, holder, agent, intent, request, refund, transaction } = all
    expect(await spentBy(all)).toEqual([2_500])
    await bodyOf(refund(10))
    expect(await balanceOf(payer.client, agent.walletId)).toEqual([9_985, 0])
    expect(await spentBy(all)).toEqual([1_500])
    expect(await transaction()).toMatchObject({ status: 'completed', amountEuros: 25, refundedEuros: 10 })
    await bodyOf(refund())
    expect(await balanceOf(payer.client, agent.walletId)).toEqual([10_000, 0])
    expect(await spentBy(all)).toEqual([])
    expect(await transaction()).toMatchObject({ status: 'refunded', refundedEuros: 25 })
    expect(await getRequest(holder.client, request.id)).toMatchObject({ status: 'refunded' })
    // The intent had its one payment and is not paid again.
    expect(await bodyOf(payer.client.intents.get({ params: { id: intent.id } }))).toMatchObject({
      status: 'completed',
    })
    const { data } = await bodyOf(payer.client.events.list({ query: { event: 'transaction.refunded' } }))
    // One event per refund for the payer; if one owner has both sides, one for the payee as well.
    expect(data).toHaveLength(isOwn ? 4 : 2)
    await expectSoundLedgers(service)
  })

  test('is in the payer’s own wallet once its agent is deleted, and noted on its payment all the same', async () => {
    const all = await aPaidRequest(isOwn)
    const { payer, agent, refund, transaction } = all
    const own = await aWallet(payer.client)
    await bodyOf(payer.client.agents.delete({ params: { id: agent.id } }))
    await bodyOf(payer.client.sandbox.advance({ body: { minutes: 1 } }))
    const main = isOwn ? all.wallet : own
    await bodyOf(refund(10))
    expect(await balanceOf(payer.client, main.id)).toEqual([isOwn ? 10_000 : 9_985, 0])
    expect(await spentBy(all)).toEqual([1_500])
    expect(await transaction()).toMatchObject({ status: 'completed', refundedEuros: 10 })
    const { data } = await bodyOf(payer.client.refunds.list({ query: { agentId: agent.id } }))
    expect(data).toMatchObject([{ status: 'completed', walletId: main.id, amountEuros: 10 }])
    await expectSoundLedgers(service)
  })

  test('twenty concurrent refunds return no more than was received', async () => {
    const all = await aPaidRequest(isOwn)
    const answers = await times(20, () => all.refund(10))
    expect(statusCounts(answers)).toEqual({ 200: 2, 400: 18 })
    expect(await balanceOf(all.payer.client, all.agent.walletId)).toEqual([9_995, 0])
    expect(await spentBy(all)).toEqual([500])
    await expectSoundLedgers(service)
  })
})

test('a refund that the payer cannot book moves nothing on either side', async () => {
  const all = await aPaidRequest()
  const { payer, holder, agent, wallet, refund, transaction } = all
  await withoutArrivals(service, payer.ownerId, async () => expect((await refund(10)).status).toBe(500))
  expect(await balanceOf(holder.client, wallet.id)).toEqual([25, 0])
  expect(await transaction()).toMatchObject({ refundedEuros: 0 })
  await bodyOf(refund(10))
  expect(await balanceOf(payer.client, agent.walletId)).toEqual([9_985, 0])
  expect(await spentBy(all)).toEqual([1_500])
  expect(await transaction()).toMatchObject({ refundedEuros: 10 })
  await expectSoundLedgers(service)
})
