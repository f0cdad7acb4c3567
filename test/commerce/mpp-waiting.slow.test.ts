import { expect, test } from '@jest/globals'
import { guardedHttp } from '../../src/adapters/guarded-http/guarded-http.ts'
import type { OutboundHttp } from '../../src/ports/outbound.ts'
import { demand, sell, startMerchant } from '../support/commerce/merchant.ts'
import { aPayer, credentialsOn, pay } from '../support/commerce/payers.ts'
import { bodyOf } from '../support/factories.ts'
import { startTestService } from '../support/harness.ts'
import { until } from '../support/until.ts'

const guarded = guardedHttp({ allow: ['127.0.0.1'] })
/** What is sent to these paths is answered only once the test lets it. */
const held = new Map<string, PromiseWithResolvers<void>>()

const outbound: OutboundHttp = {
  ...guarded,
  async send(request) {
    const isPaid = Object.values(request.headers ?? {}).some(value => value.startsWith('Payment '))
    const answer = await guarded.send(request)
    const { pathname } = new URL(request.url)
    if (pathname === '/held-at-first' || isPaid) await held.get(pathname)?.promise
    return answer
  },
}

const service = await startTestService({ outbound, env: { OUTBOUND_ALLOW_CIDRS: '127.0.0.1' } })
const merchant = await startMerchant()

test.each(['/held-at-first', '/held-as-it-pays'])(
  'a caller is answered before its proxy gives up, and what is under way goes on: %s',
  async path => {
    const gate = Promise.withResolvers<void>()
    held.set(path, gate)
    const payer = await aPayer(service)
    const url = merchant.sells(path, demand(), sell({ report: 42 }))
    const key = { idempotencyKey: path }
    const early = await pay(payer, url, {}, key)
    expect(early).toMatchObject({ status: 503, code: 'outcome_unknown' })
    expect(early.headers.get('retry-after')).toBe('5')
    const id = /mppcredential_\w+/.exec(String(early.error))?.[0] ?? ''
    const paymentNow = () => bodyOf(payer.agentClient.mpp.payment({ params: { id } }))
    expect((await paymentNow()).answer).toBeNull()
    gate.resolve()
    const paid = await until('it is paid', async () => {
      const payment = await paymentNow()
      return payment.status === 'paid' ? payment : undefined
    })
    expect(paid.answer).toMatchObject({ merchant_body: { report: 42 } })
    // As the request marks what it leaves under its key.
    await service.sql(`update idempotency_keys set leased_by = 'left' where key = $1 and status is null`, [
      path,
    ])
    expect(await pay(payer, url, {}, key)).toMatchObject({ status: 200, body: paid.answer })
    expect(merchant.payments(path)).toHaveLength(1)
    expect(await credentialsOn(payer.client, payer.intent.id)).toMatchObject([{ status: 'consumed' }])
  },
)
