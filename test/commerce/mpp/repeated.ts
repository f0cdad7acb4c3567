import { describe, expect, test } from '@jest/globals'
import { guardedHttp } from '../../../src/adapters/guarded-http/guarded-http.ts'
import type { OutboundHttp, OutboundRequest } from '../../../src/ports/outbound.ts'
import { answerWith, demand, sell, startMerchant } from '../../support/commerce/merchant.ts'
import { aPayer, balanceOf, credentialsOn, intentOf, type Payer, pay } from '../../support/commerce/payers.ts'
import { bodyOf } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'
import { advance } from '../../support/sandbox.ts'
import { tablesWith } from '../../support/trace.ts'

/** Where the process ends: before or after the request without a credential, or with one. */
type Crash = 'before asking' | 'after asking' | 'before sending' | 'after sending'
let crash: Crash | undefined

const guarded = guardedHttp({ allow: ['127.0.0.1'] })

const isPaid = ({ headers = {} }: OutboundRequest) =>
  Object.values(headers).some(value => value.startsWith('Payment '))

/** Whether the merchant never answers this request; the other requests have time, even on a busy machine. */
const neverEnds = (request: OutboundRequest): boolean =>
  request.url.endsWith('/silent-asks') || (isPaid(request) && /\/(silent-gives|dripping)$/.test(request.url))

/** An unexpected error ends a request as a crash would: only committed work remains. */
function dieAt(point: Crash): void {
  if (crash === point) throw new Error(`the process has ended ${point}`)
}

const outbound: OutboundHttp = {
  ...guarded,
  async send(request) {
    const step = isPaid(request) ? 'sending' : 'asking'
    dieAt(`before ${step}`)
    const answer = await guarded.send({ ...request, ...(neverEnds(request) ? { timeoutMs: 1_000 } : {}) })
    dieAt(`after ${step}`)
    return answer
  },
}

const service = await startTestService({ outbound, env: { OUTBOUND_ALLOW_CIDRS: '127.0.0.1' } })
const merchant = await startMerchant()

const KEY = { idempotencyKey: 'pay-once' }

/** The lease of a call expires after two minutes of real time, and by then nothing is being sent any more. */
async function lapseLease(): Promise<void> {
  await service.sql(
    `update idempotency_keys set created_at = created_at - interval '3 minutes' where operation = 'mpp.pay'`,
  )
  await service.sql(
    `update mpp_credentials set sent_at = sent_at - interval '3 minutes' where status = 'sent'`,
  )
}

async function crashing(point: Crash, payer: Payer, url: string): Promise<void> {
  crash = point
  expect(await pay(payer, url, {}, KEY)).toMatchObject({ status: 500, code: 'internal' })
  crash = undefined
}

describe('the same Idempotency-Key', () => {
  test('repeats the same answer, and sends nothing', async () => {
    const url = merchant.sells('/once', demand(), sell())
    const payer = await aPayer(service)
    const [first, again] = [await pay(payer, url, {}, KEY), await pay(payer, url, {}, KEY)]
    expect([first.status, again.body]).toEqual([200, first.body])
    expect(merchant.visits('/once')).toHaveLength(2)
  })

  test('repeats the refusal of an unknown outcome, and sends nothing', async () => {
    const url = merchant.sells('/open', demand(), answerWith(500))
    const payer = await aPayer(service)
    const [first, again] = [await pay(payer, url, {}, KEY), await pay(payer, url, {}, KEY)]
    expect([first.status, again.error]).toEqual([502, first.error])
    expect(merchant.payments('/open')).toHaveLength(1)
  })

  test('waits for the outcome of the first request', async () => {
    const payer = await aPayer(service)
    let second: ReturnType<typeof pay> | undefined
    const url = merchant.sells('/slow', async (visit, response) => {
      second ??= pay(payer, `${merchant.url}/slow`, {}, KEY)
      // It finds the first request under way, more than once.
      for (let read = 0; read < 20; read++) await balanceOf(payer)
      demand()(visit, response)
    })
    const first = await pay(payer, url, {}, KEY)
    expect(first.status).toBe(200)
    expect(await second).toMatchObject({ status: 200, body: first.body })
    expect(merchant.payments('/slow')).toHaveLength(1)
  })

  test.each<Crash>(['before asking', 'after asking'])(
    'after a crash %s: goes on, and pays once',
    async point => {
      const path = `/${point.replace(' ', '-')}`
      const url = merchant.sells(path, demand())
      const payer = await aPayer(service)
      await crashing(point, payer, url)
      expect(await pay(payer, url, {}, KEY)).toMatchObject({ status: 409, code: 'in_progress' })
      await lapseLease()
      const paid = await pay(payer, url, {}, KEY)
      expect(paid).toMatchObject({ status: 200, body: { merchant_body: { report: 42 } } })
      expect(await pay(payer, url, {}, KEY)).toMatchObject({ status: 200, body: paid.body })
      expect(merchant.payments(path)).toHaveLength(1)
      expect(await credentialsOn(payer.client, payer.intent.id)).toMatchObject([{ status: 'consumed' }])
    },
  )

  test.each<Crash>(['before sending', 'after sending'])(
    'after a crash %s: the outcome is open',
    async point => {
      const path = `/${point.replace(' ', '-')}`
      const url = merchant.sells(path, demand())
      const payer = await aPayer(service)
      const before = await balanceOf(payer)
      await crashing(point, payer, url)
      const sent = merchant.payments(path).length
      expect((await credentialsOn(payer.client, payer.intent.id))[0]).toMatchObject({ status: 'sent' })
      await lapseLease()
      const answer = await pay(payer, url, {}, KEY)
      expect(answer).toMatchObject({ status: 502, code: 'payment_indeterminate' })
      expect((await credentialsOn(payer.client, payer.intent.id))[0]).toMatchObject({
        status: 'indeterminate',
      })
      expect(await pay(payer, url, {}, KEY)).toMatchObject({ status: 502, error: answer.error })
      expect(await pay(payer, url)).toMatchObject({ status: 400, code: 'intent_being_paid' })
      expect(merchant.payments(path)).toHaveLength(sent)
      expect(await balanceOf(payer)).toEqual(before)
    },
  )
})

describe('what is stored for the case of a crash', () => {
  test.each<Crash>(['after asking', 'before sending'])(
    '%s holds neither the credential nor the caller’s request',
    async point => {
      const url = merchant.sells('/kept', demand())
      const payer = await aPayer(service)
      crash = point
      const secrets = { headers: { authorization: 'Bearer of-the-caller' }, body: 'body-of-the-caller' }
      await pay(payer, `${url}?key=query-of-the-caller`, secrets, KEY)
      crash = undefined
      for (const secret of [
        'of-the-caller',
        'encryptedPayload',
        'Payment ey',
        Buffer.from('{"challenge"').toString('base64url'),
      ])
        expect(await tablesWith(service, secret)).toEqual([])
      await lapseLease()
    },
  )
})

describe('without a key', () => {
  test('a crash after the credential was sent is found by the sweep, and after 31 days counts as not paid', async () => {
    const url = merchant.sells('/swept', demand())
    const payer = await aPayer(service)
    const before = await balanceOf(payer)
    crash = 'after sending'
    await pay(payer, url)
    crash = undefined
    const credential = async () => (await credentialsOn(payer.client, payer.intent.id))[0]
    await advance(payer.client, { minutes: 1 })
    expect(await credential()).toMatchObject({ status: 'sent' })
    await advance(payer.client, { minutes: 2 })
    expect(await credential()).toMatchObject({ status: 'indeterminate', outcomeBy: null })
    await advance(payer.client, { days: 30 })
    expect(await credential()).toMatchObject({ status: 'indeterminate' })
    expect(await balanceOf(payer)).toEqual(before)
    await advance(payer.client, { days: 2 })
    expect(await credential()).toMatchObject({ status: 'void', outcomeBy: 'deadline', dueAt: null })
    const [token] = (await bodyOf(payer.client.agentCredentials.list({}))).data
    expect(token).toMatchObject({ status: 'expired' })
    expect(await intentOf(payer)).toMatchObject({ status: 'expired' })
    expect((await balanceOf(payer)).heldEuros).toBe(0)
    expect(merchant.payments('/swept')).toHaveLength(1)
  })
})

describe('a merchant that does not answer in time', () => {
  test.each(['asks', 'gives'] as const)('when it %s is a 504', async when => {
    const path = `/silent-${when}`
    const silent = () => undefined
    const url = when === 'asks' ? merchant.sells(path, silent) : merchant.sells(path, demand(), silent)
    const payer = await aPayer(service)
    const code = when === 'asks' ? 'merchant_timeout' : 'payment_unanswered'
    expect(await pay(payer, url)).toMatchObject({ status: 504, code })
    expect(await credentialsOn(payer.client, payer.intent.id)).toHaveLength(when === 'asks' ? 0 : 1)
  })

  test('sends an endless body: the outcome is unknown', async () => {
    const url = merchant.sells('/dripping', demand(), (_, response) => {
      response.writeHead(200, { 'content-type': 'text/plain' })
      const drip = setInterval(() => response.write('x'), 50)
      response.once('close', () => clearInterval(drip))
    })
    const payer = await aPayer(service)
    expect(await pay(payer, url)).toMatchObject({ status: 504, code: 'payment_unanswered' })
    expect((await credentialsOn(payer.client, payer.intent.id))[0]).toMatchObject({ status: 'indeterminate' })
  })
})
