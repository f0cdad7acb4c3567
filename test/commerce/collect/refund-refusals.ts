import { describe, expect, test } from '@jest/globals'
import { aPaidRequest, refund } from '../../support/commerce/refunds.ts'
import { aRequest, getRequest, sendEuros } from '../../support/commerce/requests.ts'
import { aFundedAgent, aToken, aWallet, bodyOf } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'

const service = await startTestService()

async function anOwner() {
  const owner = await service.owner()
  return { ...owner, wallet: await aWallet(owner.client) }
}

describe('nothing is refunded', () => {
  test('of a request that still waits for money, that nothing came for, or that is another’s', async () => {
    const { client, wallet } = await anOwner()
    const { id, reference } = await aRequest(client, wallet.id)
    await sendEuros(client, 5, reference)
    expect(await refund(client, id)).toMatchObject({ status: 400, code: 'request_open' })
    const empty = await aRequest(client, wallet.id)
    await bodyOf(client.collect.cancel({ params: { id: empty.id }, body: {} }))
    expect(await refund(client, empty.id)).toMatchObject({ status: 400, code: 'nothing_to_refund' })
    expect(await refund((await anOwner()).client, empty.id)).toMatchObject({
      status: 404,
      code: 'request_not_found',
    })
  })

  test.each([
    ['the sender’s account', { senderIban: null }],
    ['a name of the sender that has visible characters', { senderName: '\u2060\u2060' }],
  ])('if the bank did not report %s', async (_, sender) => {
    const { client, wallet } = await anOwner()
    const { id, reference } = await aRequest(client, wallet.id)
    await sendEuros(client, 25, reference, sender)
    expect(await refund(client, id)).toMatchObject({ status: 400, code: 'sender_unknown' })
  })

  test('that the wallet does not have any more, or while it is frozen', async () => {
    const { client, wallet } = await anOwner()
    const { id } = await aPaidRequest(client, wallet.id)
    const params = { id: wallet.id }
    await bodyOf(client.wallets.update({ params, body: { status: 'frozen' } }))
    expect(await refund(client, id)).toMatchObject({ status: 400, code: 'wallet_frozen' })
    await bodyOf(client.wallets.update({ params, body: { status: 'active' } }))
    const elsewhere = await aWallet(client)
    const body = { fromWalletId: wallet.id, toWalletId: elsewhere.id, amountEuros: 20 }
    await bodyOf(client.transfers.create({ body }))
    expect(await refund(client, id)).toMatchObject({
      status: 400,
      code: 'insufficient_funds',
      error: '€ 25.00 is needed, but only € 5.00 is available.',
    })
    expect(await bodyOf(refund(client, id, 5))).toMatchObject({ refundingEuros: 5 })
  })

  test('above the owner’s limit of transfers by SEPA', async () => {
    const { client, ownerId, wallet } = await anOwner()
    const { id } = await aPaidRequest(client, wallet.id)
    const limits = { mode: 'test', singleEuros: 20, dailyEuros: 24 } as const
    await bodyOf(service.dash.transfers.setLimits({ params: { id: ownerId }, body: limits }))
    expect(await refund(client, id)).toMatchObject({ status: 400, code: 'single_limit_exceeded' })
    await bodyOf(refund(client, id, 20))
    expect(await refund(client, id, 5)).toMatchObject({ status: 400, code: 'daily_limit_exceeded' })
    expect(await getRequest(client, id)).toMatchObject({ refundingEuros: 20 })
  })

  test('by an agent’s token', async () => {
    const { client } = await anOwner()
    const agent = await aFundedAgent(client, {}, 1)
    const { token } = await aToken(client, agent.id, { scopes: ['collect:write', 'collect:read'] })
    const { id } = await aPaidRequest(client, agent.walletId)
    expect(await refund(service.client(String(token)), id)).toMatchObject({
      status: 403,
      code: 'wrong_caller',
    })
  })

  test.each([0, -1, 0.001])('of € %d', async amountEuros => {
    const { client, wallet } = await anOwner()
    const { id } = await aPaidRequest(client, wallet.id)
    expect(await refund(client, id, amountEuros)).toMatchObject({ status: 400, code: 'invalid_request' })
  })
})
