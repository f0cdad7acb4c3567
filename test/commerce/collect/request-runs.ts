import { describe, expect, test } from '@jest/globals'
import { collectProcess } from '../../../src/commerce/payment-requests/process.ts'
import { formatMinute } from '../../../src/values/minute.ts'
import { refund } from '../../support/commerce/refunds.ts'
import { aRequest, eventsAbout, getRequest, sendEuros } from '../../support/commerce/requests.ts'
import { aWallet, bodyOf } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'
import { runViewer } from '../../support/temporal/runs.ts'
import { until } from '../../support/until.ts'

const service = await startTestService({ temporal: true })
const temporal = await runViewer()

async function aWaitingRequest(members: Parameters<typeof aRequest>[2] = {}) {
  const { client } = await service.owner()
  const request = await aRequest(client, (await aWallet(client)).id, members)
  const run = temporal.of(request)
  await run.untilDetails('for the payment, until')
  return { client, request, run }
}

describe('the run of a payment request', () => {
  test('shows an operator what it waits for, without payer or purpose', async () => {
    const { request, run } = await aWaitingRequest({ payerName: 'Ada', description: 'Secret report' })
    const until = formatMinute(new Date(request.expiresAt))
    const details = await run.details()
    expect(details.split('\n\n')).toEqual([
      `Request for € 25.00 in test mode: open until ${until}`,
      `It waits **for the payment, until ${until}**.`,
      'Send an Update, which is answered, or a Signal: `cancel`, with this payload:',
      '`{"by": "your name", "reason": "why"}`',
    ])
    expect(await run.timerSummaries()).toEqual([`for the payment, until ${until}`])
    expect(await run.attributes()).toMatchObject({ AgentPayStatus: 'open' })
    const description = await run.handle.describe()
    expect(await description.staticSummary()).toBe('Payment request of € 25.00, test')
    expect(await run.about()).toBe(collectProcess.details)
  })

  test('shows the received amount, and ends once the request is paid', async () => {
    const { client, request, run } = await aWaitingRequest()
    await sendEuros(client, 10, request.reference)
    await run.untilDetails('€ 10.00 received')
    await sendEuros(client, 15, request.reference)
    expect(await run.untilEnded()).toBe('paid')
    expect(await run.failedTasks()).toBe(0)
  })

  test('lets it expire when the owner’s clock has passed the deadline', async () => {
    const { client, request, run } = await aWaitingRequest({ expiresInHours: 48 })
    await bodyOf(client.sandbox.advance({ body: { days: 2 } }))
    expect(await run.untilEnded()).toBe('expired')
    expect((await eventsAbout(client, request.id)).map(({ event }) => event)).toEqual(['created', 'expired'])
  })

  test('is cancelled by a signal with a name, and by a request to cancel it', async () => {
    const [signalled, requested] = [await aWaitingRequest(), await aWaitingRequest()]
    await signalled.run.signal('cancel', { reason: 'Nobody' })
    await signalled.run.untilDetails('A signal cancel was ignored')
    await signalled.run.signal('cancel', { by: 'Ada', reason: 'Paid in cash' })
    await requested.run.handle.cancel()
    expect(await signalled.run.untilEnded()).toBe('cancelled')
    expect(await requested.run.untilEnded()).toBe('cancelled')
    expect(await getRequest(signalled.client, signalled.request.id)).toMatchObject({
      status: 'cancelled',
      comment: 'Paid in cash',
    })
  })

  test('runs again for a refund, and ends when the money is back', async () => {
    const { client, request, run } = await aWaitingRequest()
    await sendEuros(client, 25, request.reference)
    expect(await run.untilEnded()).toBe('paid')
    await bodyOf(refund(client, request.id))
    await until('the money is back', async () => (await getRequest(client, request.id)).status === 'refunded')
    await until('the run has ended', async () => {
      const ended = await temporal.of(request).untilEnded()
      return ended === 'refunded'
    })
  })
})
