import { describe, expect, test } from '@jest/globals'
import { MAX_CONCURRENT_MINTS } from '../../../src/commerce/mpp/pay/ask.ts'
import { statusCounts, times } from '../../support/at-once.ts'
import { answerWith, type Conduct, demand, sell, startMerchant } from '../../support/commerce/merchant.ts'
import {
  aPayer,
  balanceOf,
  credentialsOn,
  intentOf,
  PRICE_EUROS,
  pay,
} from '../../support/commerce/payers.ts'
import { anIntent, aToken, bodyOf } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'
import { expectVerifiedLedger } from '../../support/verified-ledger.ts'

const merchant = await startMerchant()
const other = await startMerchant()
const service = await startTestService({ env: { OUTBOUND_ALLOW_CIDRS: '127.0.0.1', DATABASE_POOL: '2' } })
const another = await service.another()

describe('a hundred requests with one Idempotency-Key, at two processes,', () => {
  test('are one payment', async () => {
    const payer = await aPayer(service)
    const url = merchant.sells('/hundred', demand())
    const { token } = await aToken(payer.client, payer.agent.id)
    const body = { url, intentId: payer.intent.id }
    const send = (index: number) =>
      fetch(`${index % 2 ? another : service.url}/v1/mpp/pay`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${token}`,
          'content-type': 'application/json',
          'idempotency-key': 'hundred',
        },
        body: JSON.stringify(body),
      })
    const counts = statusCounts(await times(100, send))
    expect(Object.keys(counts).every(status => ['200', '409'].includes(status))).toBe(true)
    expect(counts[200]).toBeGreaterThan(0)
    expect(merchant.visits('/hundred')).toHaveLength(2)
    expect(await credentialsOn(payer.client, payer.intent.id)).toHaveLength(1)
    await expectVerifiedLedger(payer.client)
  })
})

describe('thirty payments at once through two connections to the database', () => {
  test('wait for merchants without holding one: all are paid, and others are served', async () => {
    const payers = []
    for (let n = 0; n < 30; n++) payers.push(await aPayer(service))
    const waiting: (() => void)[] = []
    const slow: Conduct = (visit, response) => void waiting.push(() => sell()(visit, response))
    const url = merchant.sells('/slow', demand(), slow)
    const answers = Promise.all(payers.map(payer => pay(payer, url)))
    while (waiting.length < payers.length) await new Promise(resolve => setTimeout(resolve, 10))
    expect((await service.http('GET', '/health')).status).toBe(200)
    for (const answer of waiting) answer()
    expect(statusCounts(await answers)).toEqual({ 200: 30 })
    expect(merchant.payments('/slow')).toHaveLength(30)
  })
})

describe('a clock that is moved while the merchant is silent', () => {
  test('a charge reported after all deadlines is paid once, and counted in full', async () => {
    const payer = await aPayer(service)
    const before = await balanceOf(payer)
    const url = merchant.sells('/moved', demand(), async (visit, response) => {
      await bodyOf(payer.client.sandbox.advance({ body: { days: 40 } }))
      sell()(visit, response)
    })
    const { status } = await pay(payer, url)
    const [credential] = await credentialsOn(payer.client, payer.intent.id)
    const after = await balanceOf(payer)
    expect({ status, credential: credential?.status, held: after.heldEuros }).toEqual({
      status: 200,
      credential: 'consumed',
      held: 0,
    })
    expect(after.availableEuros).toBe(before.availableEuros)
    await expectVerifiedLedger(payer.client)
  })

  test('a decline reported after all deadlines changes nothing', async () => {
    const payer = await aPayer(service)
    const before = await balanceOf(payer)
    const url = merchant.sells('/moved-no', demand(), async (visit, response) => {
      await bodyOf(payer.client.sandbox.advance({ body: { days: 40 } }))
      answerWith(500)(visit, response)
    })
    expect((await pay(payer, url)).status).toBe(502)
    expect(await credentialsOn(payer.client, payer.intent.id)).toMatchObject([{ status: 'void' }])
    expect(await balanceOf(payer)).toMatchObject({
      heldEuros: 0,
      availableEuros: before.availableEuros + 20,
    })
    expect(await intentOf(payer)).toMatchObject({ status: 'expired' })
    await expectVerifiedLedger(payer.client)
  })
})

describe('a merchant for whom as many requests wait as may', () => {
  const AT_MERCHANT = { merchant: '127.0.0.1', amountEuros: PRICE_EUROS }

  test('gets no further request until it has answered, and then the one that is repeated under its key', async () => {
    const payer = await aPayer(service)
    const waiting: (() => void)[] = []
    let isFull: () => void = () => undefined
    const full = new Promise<void>(resolve => {
      isFull = resolve
    })
    const url = merchant.sells('/crowded', (_, response) => {
      waiting.push(() => response.writeHead(404).end())
      if (waiting.length === MAX_CONCURRENT_MINTS) isFull()
    })
    const asked = times(MAX_CONCURRENT_MINTS, () => pay(payer, url))
    await full
    const key = { idempotencyKey: 'crowded' }
    const refused = { status: 503, code: 'merchant_busy' }
    expect(await pay(payer, url, {}, key)).toMatchObject(refused)
    expect(await pay(payer, url, {}, key)).toMatchObject(refused)
    expect(merchant.visits('/crowded')).toHaveLength(MAX_CONCURRENT_MINTS)
    const onAnother = { ...payer, intent: await anIntent(payer.client, payer.agent.id, AT_MERCHANT) }
    expect(await pay(onAnother, other.sells('/free', demand()))).toMatchObject({ status: 200 })
    for (const answer of waiting) answer()
    expect(statusCounts(await asked)).toEqual({ 400: MAX_CONCURRENT_MINTS })
    merchant.sells('/crowded', demand())
    expect(await pay(payer, url, {}, key)).toMatchObject({ status: 200 })
    expect((await pay(payer, url, {}, key)).headers.get('idempotent-replayed')).toBe('true')
    expect(merchant.payments('/crowded')).toHaveLength(1)
  })
})
