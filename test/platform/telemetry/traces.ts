import { describe, expect, test } from '@jest/globals'
import { demand, sell, startMerchant } from '../../support/commerce/merchant.ts'
import { aPayer, pay } from '../../support/commerce/payers.ts'
import { respondWith } from '../../support/delivery/receiver.ts'
import { aBeneficiary, anAgentUnder, anIntent, aWebhook, bodyOf } from '../../support/factories.ts'
import { pathsOf } from '../../support/telemetry/collector.ts'
import { until } from '../../support/until.ts'
import { aTrace, receiver, service, spanNamed, spansOf, untilTraced } from './service.ts'

const merchant = await startMerchant()

const PAY = 'POST /v1/mpp/pay'
const RUN = `${PAY} > mpp.pay > run mpp`
const SENT = `${RUN} > activity sendCredential > mpp.send`

const stepOf = (activity: string, step: string): string[] => {
  const path = `${RUN} > activity ${activity}`
  const taken = ['external call', 'external call > GET', 'transaction'].map(
    part => `${path} > ${step} > ${part}`,
  )
  return [path, `${path} > ${step}`, ...taken]
}

let payments = 0

/** Undefined if the request has taken the steps, as it does where no run begins in time on a busy machine. */
async function aPaymentByItsRun() {
  const number = ++payments
  const payer = await aPayer(service)
  await aWebhook(payer.client, { url: `${receiver.url}/paid-${number}`, events: ['intent.completed'] })
  const url = merchant.sells(`/traced-${number}`, demand(), sell({ report: 42 }))
  const { traceId, spanId, sending } = aTrace()
  expect(await pay(payer, url, {}, sending)).toMatchObject({ status: 200 })
  const spans = await untilTraced(
    traceId,
    PAY,
    'activity readMachinePayment',
    'webhook intent.completed',
    'POST',
  )
  const paths = pathsOf(spans)
  const isByRequest = paths.some(path => path.startsWith(`${PAY} > mpp.pay > external call > `))
  if (
    isByRequest ||
    ['mintCredential', 'sendCredential'].some(step => !paths.includes(`${RUN} > activity ${step}`))
  )
    return undefined
  return {
    traceId,
    spanId,
    spans,
    visits: merchant.visits(`/traced-${number}`),
    received: receiver.at(`/paid-${number}`),
  }
}

describe('one trace leads', () => {
  test('from the request of a machine payment to merchant, run, activity and webhook', async () => {
    const { traceId, spanId, spans, visits, received } = await until(
      'a run takes the steps of a payment',
      aPaymentByItsRun,
      120_000,
    )
    expect(pathsOf(spans)).toEqual([
      PAY,
      `${PAY} > mpp.pay`,
      `${PAY} > mpp.pay > external call`,
      RUN,
      ...stepOf('mintCredential', 'mpp.order'),
      `${RUN} > activity readMachinePayment`,
      ...stepOf('sendCredential', 'mpp.send'),
      `${SENT} > webhook intent.completed`,
      `${SENT} > webhook intent.completed > POST`,
      `${PAY} > mpp.pay > transaction`,
    ])
    expect(spanNamed(spans, PAY)).toMatchObject({
      kind: 'server',
      parentSpanId: spanId,
      failed: false,
      attributes: { 'http.route': '/v1/mpp/pay', 'http.response.status_code': '200' },
      service: { 'service.name': 'payments-under-test', 'deployment.environment.name': 'test' },
    })
    const sent = (name: string) =>
      spans.filter(span => span.name === name).map(span => `00-${traceId}-${span.spanId}-01`)
    expect(visits.map(({ headers }) => headers.traceparent)).toEqual(sent('GET'))
    expect(received.map(({ headers }) => headers.traceparent)).toEqual(sent('POST'))
  })

  test('from a SEPA transfer on an intent through the steps of its run to the bank and the webhook', async () => {
    const { client } = await service.owner()
    await aWebhook(client, {
      url: `${receiver.url}/sent`,
      events: ['transfer.completed', 'intent.completed'],
    })
    const agent = await anAgentUnder(client, { autoApproveLimitEuros: 100 })
    const beneficiary = await aBeneficiary(client)
    const intent = await anIntent(client, agent.id, { beneficiaryId: beneficiary.id, amountEuros: 25 })
    const { traceId, sending } = aTrace()
    const body = {
      fromWalletId: agent.walletId,
      beneficiaryId: beneficiary.id,
      amountEuros: 25,
      intentId: intent.id,
    }
    await bodyOf(client.transfers.create({ body, ...sending }))
    const spans = await untilTraced(
      traceId,
      'POST /transfers',
      'activity submitPayment',
      'webhook intent.completed',
      'webhook transfer.completed',
    )
    const run = 'POST /transfers > transfers.create > run transfer'
    const paths = pathsOf(spans)
    expect(paths).toEqual(
      expect.arrayContaining([
        `${run} > activity verifyPayee > transfers.verify > external call`,
        `${run} > activity submitPayment > transfers.submit > external call`,
        `${run} > activity submitPayment > transfers.submit > transaction`,
        `${run} > activity submitPayment > transfers.submit > webhook transfer.completed > POST`,
      ]),
    )
    expect(paths.filter(path => !path.startsWith('POST /transfers'))).toEqual([])
    expect(spanNamed(spans, 'activity submitPayment').attributes).toMatchObject({
      'temporal.activity': 'submitPayment',
      'temporal.attempt': '1',
      'temporal.workflow_id': expect.stringMatching(/^transfer\/transfer_\w+$/),
    })
  })

  test('to the later attempts of a webhook, and to the run that leads them', async () => {
    const { client } = await service.owner()
    receiver.treat('/fails-once', (response, n) => respondWith(n === 0 ? 503 : 204)(response, n, {} as never))
    await aWebhook(client, { url: `${receiver.url}/fails-once`, events: ['agent.created'] })
    const { traceId, sending } = aTrace()
    await bodyOf(client.agents.create({ body: { name: 'Buyer' }, ...sending }))
    await until('it is delivered', () => receiver.at('/fails-once').length === 2)
    const spans = await untilTraced(traceId, 'run webhook', 'activity sendAgain')
    const attempts = () => spansOf(traceId).filter(({ name }) => name === 'POST')
    await until('both attempts are collected', () => attempts().length === 2)
    expect(
      attempts()
        .map(({ failed }) => failed)
        .sort(),
    ).toEqual([false, true])
    expect(pathsOf(spans)).toContain('POST /agents > agents.create > run webhook > activity sendAgain')
  })
})

test('the trace of a payer ends at another owner', async () => {
  const [payer, payee] = [await service.owner(), await service.owner()]
  await aWebhook(payee.client, { url: `${receiver.url}/payee`, events: ['*'] })
  const wallet = await bodyOf(payee.client.wallets.create({ body: { name: 'Shop' } }))
  const asked = { walletId: wallet.id, amountEuros: 5, description: 'A report', expiresInHours: 24 }
  const { id: requestId } = await bodyOf(payee.client.collect.create({ body: asked }))
  const agent = await anAgentUnder(payer.client, { autoApproveLimitEuros: 100 })
  const intent = await anIntent(payer.client, agent.id, { requestId, amountEuros: 5 })
  const { traceId, sending } = aTrace()
  await bodyOf(payer.client.checkout.execute({ body: { intentId: intent.id }, ...sending }))
  const paid = () => receiver.at('/payee').filter(({ event }) => event.startsWith('incoming.'))
  await until('the payee is notified', () => paid().length > 0)
  expect(receiver.at('/payee').filter(({ headers }) => headers.traceparent?.includes(traceId))).toEqual([])
  expect((await untilTraced(traceId, 'POST /checkout/execute')).length).toBeGreaterThan(1)
})

test('the end of a record belongs to the trace of its last request, with a link to what ended it', async () => {
  const { client } = await service.owner()
  const agent = await anAgentUnder(client, { autoApproveLimitEuros: 0 })
  const intent = await anIntent(client, agent.id)
  const [approving, waiting] = [aTrace(), aTrace()]
  await bodyOf(client.intents.approve({ params: { id: intent.id }, body: {}, ...approving.sending }))
  await bodyOf(client.sandbox.advance({ body: { days: 40 }, ...waiting.sending }))
  const spans = await untilTraced(approving.traceId, 'intents.expire', 'POST /intents/{id}/approve')
  const outer = spanNamed(await untilTraced(waiting.traceId, 'external call'), 'external call')
  expect(spanNamed(spans, 'intents.expire').links).toEqual([`${outer.traceId} ${outer.spanId}`])
  expect(pathsOf(spans)).toContain('POST /intents/{id}/approve > intents.approve > intents.expire')
})

test('the end of a record without a run belongs to the trace of its last request, too', async () => {
  const { client } = await service.owner()
  const agent = await anAgentUnder(client, { autoApproveLimitEuros: 0 })
  const { traceId, sending } = aTrace()
  const body = { agentId: agent.id, maxAmountEuros: 20, expiresInMinutes: 60 }
  await bodyOf(client.delegations.create({ body, ...sending }))
  await bodyOf(client.sandbox.advance({ body: { minutes: 61 } }))
  expect(pathsOf(await untilTraced(traceId, 'delegations.expire'))).toContain(
    'POST /delegations > delegations.create > delegations.expire',
  )
})
