import { describe, expect, test } from '@jest/globals'
import { challengeOf, credentialFor, present } from '../../support/commerce/machine-payer.ts'
import { aRequest, eventsAbout, getRequest, paymentsOn, sendEuros } from '../../support/commerce/requests.ts'
import { aWallet, bodyOf } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'

const service = await startTestService()

/** The acquirer does not answer at first, and then declines. */
const SILENT_THEN_DECLINED = '4000000000000341'
/** The acquirer does not answer at first, and then reports the charge. */
const SILENT_THEN_CHARGED = '4000000000000119'

const HOUR_MS = 3_600_000

async function aPaymentUnderWay(number: string, leftMs = HOUR_MS) {
  const { client, ownerId } = await service.owner()
  const wallet = await aWallet(client)
  const { id, reference } = await aRequest(client, wallet.id, { expiresInHours: 1 })
  await service.sql(`insert into tenant_clocks values ($1, 'test', $2)`, [ownerId, HOUR_MS - leftMs])
  const url = `${service.url}/collect/402/${id}`
  const credential = credentialFor(await challengeOf(url), { number })
  expect((await present(url, credential)).status).toBe(504)
  const advance = (minutes: number) => bodyOf(client.sandbox.advance({ body: { minutes } }))
  return { client, wallet, id, reference, advance }
}

describe('while a payment by card is under way', () => {
  test('refuses to cancel or settle the request', async () => {
    const { client, wallet, id } = await aPaymentUnderWay(SILENT_THEN_CHARGED)
    const params = { id }
    const credit = await sendEuros(client, 25, null, { iban: String(wallet.iban) })
    const answers = await Promise.all([
      client.collect.cancel({ params, body: {} }),
      client.collect.settle({ params, body: {} }),
      client.collect.settle({ params, body: { creditId: credit.id } }),
    ])
    expect(answers.map(({ status, code }) => [status, code])).toEqual(
      Array(3).fill([409, 'payment_under_way']),
    )
    expect(await paymentsOn(client, id)).toMatchObject([
      { way: 'card', status: 'under_way', countedEuros: 0 },
    ])
  })

  test('a SEPA credit pays the request, and what the card then brings is the surplus', async () => {
    const { client, id, reference, advance } = await aPaymentUnderWay(SILENT_THEN_CHARGED)
    await sendEuros(client, 25, reference)
    expect(await getRequest(client, id)).toMatchObject({ status: 'paid', paidBy: 'sepa' })
    await advance(2)
    expect(await getRequest(client, id)).toMatchObject({ paidEuros: 25, surplusEuros: 25 })
    expect(await paymentsOn(client, id)).toMatchObject([
      { way: 'card', status: 'received', surplusReason: 'already_paid' },
      { way: 'sepa', surplusReason: null },
    ])
  })

  test('the deadline passes: it counts where the card was charged', async () => {
    const { client, id, advance } = await aPaymentUnderWay(SILENT_THEN_CHARGED, 30_000)
    await advance(5)
    expect(await getRequest(client, id)).toMatchObject({ status: 'paid', paidEuros: 25, paidBy: 'card' })
    expect((await eventsAbout(client, id)).map(({ event }) => event)).toEqual(['created', 'paid'])
  })

  test('the deadline passes: the request expires where the card was declined', async () => {
    const { client, id, advance } = await aPaymentUnderWay(SILENT_THEN_DECLINED, 30_000)
    await advance(5)
    expect(await getRequest(client, id)).toMatchObject({ status: 'expired', paidEuros: 0, surplusEuros: 0 })
    expect(await paymentsOn(client, id)).toMatchObject([{ way: 'card', status: 'failed' }])
  })

  test('and is declined, the request waits for its deadline again', async () => {
    const { client, id, advance } = await aPaymentUnderWay(SILENT_THEN_DECLINED)
    await advance(5)
    expect((await getRequest(client, id)).status).toBe('open')
    await advance(60)
    expect((await getRequest(client, id)).status).toBe('expired')
  })
})
