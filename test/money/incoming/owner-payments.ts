import { describe, expect, test } from '@jest/globals'
import { newId } from '../../../src/values/ids.ts'
import { statusCounts, times } from '../../support/at-once.ts'
import { forget, goOnWith } from '../../support/compliance/forgotten.ts'
import { sealTrail } from '../../support/compliance/trail.ts'
import { bodyOf } from '../../support/factories.ts'
import { notedWrites } from '../../support/money/noted-writes.ts'
import { type PayingOwner, startPayingOwners } from '../../support/money/paying-owners.ts'

const { service, owners, pay, refund, wallet, balanceOf, lastEvent, proveLedgers } = await startPayingOwners()
const [payer, payee] = owners

/** The lines of the current month's statement that are about payments. */
async function linesOf({ client, key }: PayingOwner, walletId: string): Promise<string[]> {
  const period = new Date().toISOString().slice(0, 7)
  const { id } = await bodyOf(client.statements.create({ body: { walletId, period } }))
  const { text } = await service.http('GET', `/statements/${id}/csv`, { token: key })
  return text.split('\r\n').filter(line => /Payment|credit/.test(line))
}

describe('a payment from owner to owner', () => {
  test('leaves one ledger, enters the other, and names what it pays', async () => {
    const [from, to] = [await wallet(payer, 100), await wallet(payee)]
    const requestId = newId('request')
    const answer = await pay(payer, payee, { from, to, amountEuros: 12.34, payableId: requestId })
    expect(answer).toMatchObject({ status: 200 })
    expect([await balanceOf(payer, from), await balanceOf(payee, to)]).toEqual([87.66, 12.34])
    expect(await lastEvent(payee, 'incoming.received')).toEqual({
      creditId: answer.body.id,
      walletId: to,
      status: 'matched',
      amountEuros: 12.34,
      reason: null,
      source: 'owner',
      payableType: 'request',
      payableId: requestId,
    })
    await proveLedgers()
  })

  test('shows each owner its own side only', async () => {
    const [from, to] = [await wallet(payer, 100), await wallet(payee)]
    await bodyOf(pay(payer, payee, { from, to, amountEuros: 3 }))
    const seen = async ({ client }: PayingOwner) =>
      JSON.stringify([
        await bodyOf(client.events.list({ query: { limit: 100 } })),
        await bodyOf(client.ledger.transfers({ query: { limit: 100 } })),
      ])
    expect(await seen(payer)).not.toMatch(new RegExp(`${to}|${payee.ownerId}`))
    expect(await seen(payee)).not.toMatch(new RegExp(`${from}|${payer.ownerId}`))
  })

  test('is an event of each owner, by that owner’s clock and without the request of the other', async () => {
    const ahead = await service.owner()
    await bodyOf(ahead.client.sandbox.advance({ body: { minutes: 3 * 24 * 60 } }))
    const [from, to] = [await wallet(payer, 10), await wallet(ahead)]
    const { id } = await bodyOf(pay(payer, ahead, { from, to, amountEuros: 2 }))
    const told = await service.sql<{ owner: string; days: number; request: string; action: string }>(
      `select owner_id as owner, round(extract(epoch from created_at - now()) / 86400)::int as days,
        request_id as request, action from events where event = 'incoming.received' and data ->> 'creditId' = $1`,
      [id],
    )
    expect(told).toEqual([
      { owner: ahead.ownerId, days: 3, request: `hand-over:${id}`, action: 'incoming.arrive' },
    ])
    const days = await service.sql<{ owner: string; days: number }>(
      `select owner_id as owner, value_date - current_date as days from incoming_credits where id = $1`,
      [id],
    )
    expect(days).toHaveLength(2)
    expect(days).toEqual(
      expect.arrayContaining([
        { owner: payer.ownerId, days: 0 },
        { owner: ahead.ownerId, days: 3 },
      ]),
    )
  })

  test('a payment between owners is on both statements with the other’s name', async () => {
    const [from, to] = [await wallet(payer, 100), await wallet(payee)]
    const { id } = await bodyOf(pay(payer, payee, { from, to, amountEuros: 7 }))
    await bodyOf(refund(payee, id, 2))
    expect(await linesOf(payer, from)).toEqual([
      expect.stringMatching(/,Payment,Payee,,For the tests,,-7.00,/),
      expect.stringMatching(/,"Payment, refunded",Payee,,Given back,,2.00,/),
    ])
    expect(await linesOf(payee, to)).toEqual([
      expect.stringMatching(/,Payment received,Payer,,For the tests,,7.00,/),
      expect.stringMatching(/,"Payment received, given back",Payer,,Given back,,-2.00,/),
    ])
  })

  test('what is assigned from suspense is no SEPA credit on a statement', async () => {
    const [from, to, back] = [await wallet(payer, 20), await wallet(payee), await wallet(payee)]
    await bodyOf(payee.client.wallets.close({ params: { id: to } }))
    const paid = await bodyOf(pay(payer, payee, { from, to, amountEuros: 5 }))
    const params = { id: paid.id }
    await bodyOf(payee.client.incoming.assignOwn({ params, body: { walletId: back } }))
    expect(await linesOf(payee, back)).toEqual([
      expect.stringMatching(/,"Payment received, assigned",Payer,,For the tests,,5.00,/),
    ])
  })

  test('stays on one ledger between two wallets of one owner', async () => {
    const [from, to] = [await wallet(payer, 20), await wallet(payer)]
    const { id } = await bodyOf(pay(payer, payer, { from, to, amountEuros: 5, payableId: 'request_own' }))
    expect(await lastEvent(payer, 'incoming.received')).toMatchObject({
      creditId: id,
      payableId: 'request_own',
    })
    await bodyOf(refund(payer, id, 5))
    expect([await balanceOf(payer, from), await balanceOf(payer, to)]).toEqual([20, 0])
    await proveLedgers()
  })

  test('a refund to an erased payer waits in suspense, and is sent back by the operator', async () => {
    const leaving = await service.owner()
    const [from, to] = [await wallet(leaving, 8), await wallet(payee)]
    const { id } = await bodyOf(pay(leaving, payee, { from, to, amountEuros: 8 }))
    const deletionId = await forget(service, leaving)
    await bodyOf(refund(payee, id, 8))
    const { data } = await bodyOf(service.dash.incoming.list({ query: { ownerId: leaving.ownerId } }))
    const credit = data.find(({ source, status }) => source === 'refund' && status === 'unmatched')
    expect(credit).toMatchObject({ reason: 'wallet_closed', amountEuros: 8, senderName: 'Payee' })
    const params = { id: String(credit?.id) }
    const body = { reference: 'RET-1' }
    expect((await bodyOf(service.dash.incoming.returnCredit({ params, body }))).status).toBe('returned')
    await proveLedgers()
    await service.sql('update tenant_clocks set offset_ms = offset_ms + $2 where owner_id = $1', [
      leaving.ownerId,
      20 * 366 * 86_400_000,
    ])
    await sealTrail(service)
    await goOnWith(service, deletionId)
    const names = `select distinct sender_name as name from incoming_credits where owner_id = $1 and sender_name is not null`
    expect(await service.sql(names, [leaving.ownerId])).toEqual([{ name: '[forgotten]' }])
  })

  test('waits on the payee’s suspense account where the wallet is closed', async () => {
    const [from, to, next] = [await wallet(payer, 20), await wallet(payee), await wallet(payee)]
    const requestId = newId('request')
    await bodyOf(payee.client.wallets.close({ params: { id: to } }))
    const { id } = await bodyOf(pay(payer, payee, { from, to, amountEuros: 5, payableId: requestId }))
    expect(await lastEvent(payee, 'incoming.received')).toMatchObject({
      creditId: id,
      status: 'unmatched',
      reason: 'wallet_closed',
      payableId: null,
    })
    const assigned = { walletId: next, status: 'assigned', payableType: 'request', payableId: requestId }
    expect(
      await bodyOf(service.dash.incoming.assign({ params: { id }, body: { walletId: next } })),
    ).toMatchObject(assigned)
    expect(await balanceOf(payee, next)).toBe(5)
    await bodyOf(refund(payee, id, 5))
    expect(await balanceOf(payer, from)).toBe(20)
    await proveLedgers()
  })

  test('is one transaction of both owners and no other, also where a request of the payee takes it', async () => {
    const [from, to] = [await wallet(payer, 20), await wallet(payee)]
    const owned = await notedWrites(service, async () => {
      const body = {
        fromOwnerId: payer.ownerId,
        fromWalletId: from,
        toOwnerId: payee.ownerId,
        toWalletId: to,
      }
      await bodyOf(payee.client.payer.charge({ body: { ...body, amountEuros: 4 } }))
      await bodyOf(pay(payer, payee, { from, to, amountEuros: 4 }))
    })
    const both = [payer.ownerId, payee.ownerId].toSorted()
    expect(owned.map(ids => ids.toSorted()).filter(ids => ids.length > 1)).toEqual([both, both])
    expect([await balanceOf(payer, from), await balanceOf(payee, to)]).toEqual([12, 8])
  })

  test('of all that is left, twenty at once, is made as often as there is money for', async () => {
    const [from, to] = [await wallet(payer, 5), await wallet(payee)]
    const answers = await times(20, () => pay(payer, payee, { from, to, amountEuros: 1 }))
    expect(statusCounts(answers)).toEqual({ 200: 5, 400: 15 })
    expect([await balanceOf(payer, from), await balanceOf(payee, to)]).toEqual([0, 5])
    await proveLedgers()
  })

  test('twenty concurrent refunds return a payment once, and never more than it', async () => {
    const [from, to] = [await wallet(payer, 5), await wallet(payee, 50)]
    const { id } = await bodyOf(pay(payer, payee, { from, to, amountEuros: 5 }))
    const answers = await times(20, () => refund(payee, id, 2))
    expect(statusCounts(answers)).toEqual({ 200: 2, 400: 18 })
    expect([await balanceOf(payer, from), await balanceOf(payee, to)]).toEqual([4, 51])
    expect(await lastEvent(payer, 'incoming.received')).toMatchObject({
      source: 'refund',
      payableType: 'payment',
      payableId: id,
      walletId: from,
    })
    await proveLedgers()
  })
})
