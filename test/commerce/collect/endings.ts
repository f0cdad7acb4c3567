import { describe, expect, test } from '@jest/globals'
import { aRequest, eventsAbout, getRequest, sendEuros } from '../../support/commerce/requests.ts'
import { aWallet, bodyOf } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'

const service = await startTestService()

async function anOwner() {
  const { client, ownerId } = await service.owner()
  return { client, ownerId, wallet: await aWallet(client) }
}

describe('a payment request', () => {
  test('expires at its deadline by the owner’s clock, and not before', async () => {
    const { client, wallet } = await anOwner()
    const { id } = await aRequest(client, wallet.id, { expiresInHours: 2 })
    await bodyOf(client.sandbox.advance({ body: { minutes: 119 } }))
    expect((await getRequest(client, id)).status).toBe('open')
    await bodyOf(client.sandbox.advance({ body: { minutes: 1 } }))
    expect((await getRequest(client, id)).status).toBe('expired')
    expect((await eventsAbout(client, id)).at(-1)).toEqual({
      event: 'expired',
      requestId: id,
      status: 'expired',
      amountEuros: 25,
    })
  })

  test('that is paid does not expire', async () => {
    const { client, wallet } = await anOwner()
    const { id, reference } = await aRequest(client, wallet.id, { expiresInHours: 1 })
    await sendEuros(client, 25, reference)
    await bodyOf(client.sandbox.advance({ body: { days: 2 } }))
    expect((await getRequest(client, id)).status).toBe('paid')
  })

  test('is cancelled with what is said, once', async () => {
    const { client, wallet } = await anOwner()
    const { id } = await aRequest(client, wallet.id)
    const cancel = () => client.collect.cancel({ params: { id }, body: { comment: 'Paid in cash' } })
    expect(await bodyOf(cancel())).toMatchObject({ status: 'cancelled', comment: 'Paid in cash' })
    expect(await cancel()).toMatchObject({
      status: 400,
      code: 'request_not_open',
      error: 'The request is already cancelled.',
    })
    expect((await eventsAbout(client, id)).map(({ event }) => event)).toEqual(['created', 'cancelled'])
  })

  test('a partially paid request keeps the money when it is cancelled', async () => {
    const { client, wallet } = await anOwner()
    const { id, reference } = await aRequest(client, wallet.id)
    await sendEuros(client, 5, reference)
    expect(await bodyOf(client.collect.cancel({ params: { id }, body: {} }))).toMatchObject({
      status: 'cancelled',
      paidEuros: 5,
    })
  })

  test('whose deadline has passed expires in place of being cancelled', async () => {
    const { client, ownerId, wallet } = await anOwner()
    const { id } = await aRequest(client, wallet.id, { expiresInHours: 1 })
    await service.sql(`insert into tenant_clocks values ($1, 'test', $2)`, [ownerId, 3_600_000])
    expect(await client.collect.cancel({ params: { id }, body: {} })).toMatchObject({
      status: 400,
      code: 'request_not_open',
    })
    expect((await getRequest(client, id)).status).toBe('expired')
  })

  test('that is cancelled and paid at once is one of the two, and no cent is lost', async () => {
    const { client, wallet } = await anOwner()
    for (let round = 0; round < 5; round++) {
      const { id, reference } = await aRequest(client, wallet.id)
      await Promise.all([
        sendEuros(client, 25, reference),
        client.collect.cancel({ params: { id }, body: {} }),
      ])
      const { status, paidEuros, surplusEuros } = await getRequest(client, id)
      expect([status, paidEuros, surplusEuros]).toEqual(
        status === 'paid' ? ['paid', 25, 0] : ['cancelled', 0, 25],
      )
    }
  })

  test('for a wallet that is closed is cancelled', async () => {
    const { client, wallet } = await anOwner()
    const { id } = await aRequest(client, wallet.id)
    await bodyOf(client.wallets.close({ params: { id: wallet.id } }))
    expect(await getRequest(client, id)).toMatchObject({
      status: 'cancelled',
      comment: 'The wallet has been closed.',
    })
  })
})
