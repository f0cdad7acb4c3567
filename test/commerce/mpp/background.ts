import { describe, expect, test } from '@jest/globals'
import { answerWith, type Conduct, demand, sell, startMerchant } from '../../support/commerce/merchant.ts'
import { aPayer, intentOf, type Payer, pay } from '../../support/commerce/payers.ts'
import { anIntent, aToken, bodyOf } from '../../support/factories.ts'
import { aHost, send } from '../../support/http/tasks.ts'
import { advance } from '../../support/sandbox.ts'
import { until } from '../../support/until.ts'
import { service } from './service.ts'

const merchant = await startMerchant()

interface Payment {
  readonly id: string
  readonly status: string
  readonly reason: string | null
  readonly dueAt: string | null
}

const respondAsync = { headers: { prefer: 'respond-async' } }

const payLater = (payer: Payer, url: string, members: object = {}, more: object = {}) =>
  pay(payer, url, members, { ...respondAsync, ...more })

async function orderLater(payer: Payer, url: string, members: object = {}): Promise<Payment> {
  const { status, body } = await payLater(payer, url, members)
  expect(status).toBe(202)
  return body as unknown as Payment
}

/** Its intent waits for a person. */
const aWaitingPayer = (members: object = {}) =>
  aPayer(service, { rules: { autoApproveLimitEuros: 1 }, ...members })

const paymentOf = ({ agentClient }: Payer, { id }: Payment) =>
  bodyOf(agentClient.mpp.payment({ params: { id } }))

const approve = ({ client, intent }: Payer) =>
  bodyOf(client.intents.approve({ params: { id: intent.id }, body: {} }))

/** Without a worker, the sweep carries out what is due. */
const carriedOut = async (payer: Payer, payment: Payment, status: string) => {
  await advance(payer.client, { minutes: 1 })
  return until(`it is ${status}`, async () => {
    const found = await paymentOf(payer, payment)
    return found.status === status ? found : undefined
  })
}

describe('with Prefer: respond-async', () => {
  test('answers 202 with the payment, which goes on', async () => {
    const payer = await aPayer(service)
    const url = merchant.sells('/later', demand(), sell({ report: 42 }))
    const payment = await orderLater(payer, url)
    expect(payment).toMatchObject({ status: 'ordering', credentialId: null, answer: null, dueAt: null, url })
    const paid = await carriedOut(payer, payment, 'paid')
    expect(paid).toMatchObject({ credentialId: payment.id, answer: { merchant_body: { report: 42 } } })
    expect(merchant.payments('/later')).toHaveLength(1)
  })

  test.each([
    ['alone', 'respond-async', 202],
    ['beside others', 'wait=10, Respond-Async; x=1', 202],
    ['not named', 'return=minimal', 200],
  ])('takes the preference %s', async (_, prefer, status) => {
    const payer = await aPayer(service)
    const url = merchant.sells('/preferred', demand())
    expect(await pay(payer, url, {}, { headers: { prefer } })).toMatchObject({ status })
  })

  test('gives the same answer to a repetition, and pays once', async () => {
    const payer = await aPayer(service)
    const url = merchant.sells('/later-again', demand())
    const key = { idempotencyKey: 'later-again' }
    const [first, second] = [await payLater(payer, url, {}, key), await payLater(payer, url, {}, key)]
    expect(second).toMatchObject({ status: 202, body: first.body })
    const { id } = first.body as unknown as { id: string }
    for (const { headers } of [first, second]) {
      expect(headers.get('preference-applied')).toBe('respond-async')
      expect(headers.get('location')).toBe(`/v1/mpp/payments/${id}`)
    }
    await carriedOut(payer, first.body as unknown as Payment, 'paid')
    expect(merchant.payments('/later-again')).toHaveLength(1)
  })

  test('refuses at once what cannot be paid, whatever a person decides', async () => {
    const payer = await aWaitingPayer()
    expect(await payLater(payer, 'https://other.example.com/')).toMatchObject({
      status: 400,
      code: 'merchant_mismatch',
    })
    await bodyOf(payer.client.cards.freeze({ params: { id: payer.card.id }, body: {} }))
    const url = merchant.sells('/frozen', demand())
    const cardId = payer.card.id
    expect(await payLater(payer, url, { cardId })).toMatchObject({ status: 400, code: 'card_not_active' })
    expect(await intentOf(payer)).toMatchObject({ paymentWaits: false })
  })

  test('refuses an intent that waits where the caller waits for the answer', async () => {
    const payer = await aWaitingPayer()
    const url = merchant.sells('/now', demand())
    expect(await pay(payer, url)).toMatchObject({ status: 400, code: 'intent_not_approved' })
  })

  test('refuses more than is kept until it is paid', async () => {
    const payer = await aPayer(service)
    const url = merchant.sells('/long', demand())
    const body = 'x'.repeat(49_152)
    expect(await payLater(payer, url, { body })).toMatchObject({ status: 413, code: 'body_too_large' })
    expect(await service.sql('select id from mpp_payments where intent_id = $1', [payer.intent.id])).toEqual(
      [],
    )
  })

  test('of ten at once, exactly as many are taken as an agent may have', async () => {
    const payer = await aWaitingPayer()
    const url = merchant.sells('/full', demand())
    const { id } = await orderLater(payer, url)
    await service.sql(
      `insert into mpp_payments select (json_populate_record(p, json_build_object('id', p.id || n))).*
       from mpp_payments p, generate_series(1, 96) n where p.id = $1`,
      [id],
    )
    const answers = await Promise.all(Array.from({ length: 10 }, () => payLater(payer, url)))
    const statuses = answers.map(({ status }) => status)
    expect(statuses.filter(status => status === 202)).toHaveLength(3)
    expect(answers.find(({ status }) => status === 400)).toMatchObject({ code: 'too_many_waiting' })
  })
})

describe('an intent that waits for a person', () => {
  test('is paid at once when it is approved', async () => {
    const payer = await aWaitingPayer()
    const url = merchant.sells('/approved', demand())
    const payment = await orderLater(payer, url)
    expect(payment).toMatchObject({ status: 'waiting', reason: null })
    expect(Date.parse(String(payment.dueAt)) - Date.parse(payer.intent.expiresAt)).toBe(60_000)
    expect(await intentOf(payer)).toMatchObject({ status: 'created', paymentWaits: true })
    await advance(payer.client, { minutes: 1 })
    expect(merchant.visits('/approved')).toEqual([])
    await approve(payer)
    await carriedOut(payer, payment, 'paid')
    expect(merchant.payments('/approved')).toHaveLength(1)
  })

  test.each([
    [
      'intent_denied',
      ({ client, intent }: Payer) =>
        client.intents.deny({ params: { id: intent.id }, body: { reason: 'Too dear' } }),
    ],
    [
      'intent_cancelled',
      ({ client, intent }: Payer) => client.intents.cancel({ params: { id: intent.id }, body: {} }),
    ],
    ['intent_expired', ({ client }: Payer) => advance(client, { days: 31 })],
  ])('ends it: %s', async (reason, end) => {
    const payer = await aWaitingPayer()
    const payment = await orderLater(payer, merchant.sells('/never', demand()))
    await end(payer)
    const ended = await until('it has ended', async () => {
      const found = await paymentOf(payer, payment)
      return found.status === 'ended' ? found : undefined
    })
    expect(ended).toMatchObject({ reason, credentialId: null, dueAt: null })
    const events = await service.sql<{ event: string; data: object }>(
      `select event, data from events where resource_id = $1 order by id`,
      [payment.id],
    )
    expect(events.map(({ event }) => event)).toEqual(['mpp.payment.created', 'mpp.payment.ended'])
    expect(events.at(-1)?.data).toMatchObject({ reason })
    expect(merchant.visits('/never')).toEqual([])
    const [row] = await service.sql('select request from mpp_payments where id = $1', [payment.id])
    expect(row).toEqual({ request: null })
  })

  test.each([
    [
      'the card',
      'card_not_active',
      ({ client, card }: Payer) => client.cards.freeze({ params: { id: card.id }, body: {} }),
    ],
    [
      'the merchant',
      'merchant_denied',
      ({ client }: Payer) => client.mpp.protect({ body: { type: 'deny', merchant: '127.0.0.1' } }),
    ],
    [
      'the token of whoever asked',
      'asker_not_allowed',
      async ({ client, agent }: Payer) => {
        const { data } = await bodyOf(client.agentTokens.list({ params: { id: agent.id } }))
        for (const { id } of data)
          await bodyOf(client.agentTokens.revoke({ params: { id: agent.id, tokenId: id } }))
      },
    ],
  ])('decides again about %s at the yes', async (_, reason, change) => {
    const payer = await aWaitingPayer()
    const payment = await orderLater(payer, merchant.sells('/decided-again', demand()))
    await change(payer)
    await approve(payer)
    await advance(payer.client, { minutes: 1 })
    const ended = await until('it has ended', async () => {
      const found = await bodyOf(payer.client.mpp.payment({ params: { id: payment.id } }))
      return found.status === 'ended' ? found : undefined
    })
    expect(ended).toMatchObject({ reason })
    expect(merchant.visits('/decided-again')).toEqual([])
  })

  test('is paid though the token of the assistant that asked has expired, which it renews', async () => {
    const payer = await aWaitingPayer()
    const payment = await orderLater(payer, merchant.sells('/renewed', demand()))
    await service.sql(
      `update agent_tokens set only_at = '/mcp', expires_at = now() - interval '1 hour' where agent_id = $1`,
      [payer.agent.id],
    )
    await approve(payer)
    await advance(payer.client, { minutes: 1 })
    await until('it is paid', async () => {
      const { status } = await bodyOf(payer.client.mpp.payment({ params: { id: payment.id } }))
      return status === 'paid'
    })
  })

  test('tells the payment, however close to it the approval comes', async () => {
    const payer = await aWaitingPayer()
    const url = merchant.sells('/close', demand())
    for (let round = 0; round < 12; round++) {
      const intent = await anIntent(payer.client, payer.agent.id, { merchant: '127.0.0.1', amountEuros: 20 })
      const one = { ...payer, intent }
      const [payment] = await Promise.all([orderLater(one, url), approve(one)])
      const [row] = await service.sql(
        `select p.status = 'ordering' or p.due_at <= now() + interval '1 minute' as told from mpp_payments p where p.id = $1`,
        [payment.id],
      )
      expect(row).toEqual({ told: true })
    }
  })
})

describe('a merchant that is away', () => {
  test.each([
    ['answers 503', answerWith(503), 'merchant_busy'],
    ['answers 429', answerWith(429), 'merchant_busy'],
    [
      'breaks the connection',
      (_: unknown, response: { destroy(): void }) => response.destroy(),
      'merchant_unusable',
    ],
  ])('is asked again if it %s', async (_, away, reason) => {
    const payer = await aPayer(service)
    const payment = await orderLater(payer, merchant.sells('/away', away as ReturnType<typeof demand>))
    const waiting = await carriedOut(payer, payment, 'waiting')
    expect(waiting.reason).toBe(reason)
    expect(waiting.dueAt).not.toBeNull()
    const asked = merchant.visits('/away').length
    merchant.sells('/away', demand())
    await carriedOut(payer, payment, 'paid')
    expect(merchant.visits('/away').length - asked).toBe(2)
  })

  test('is asked again less and less often, and not beyond the life of the intent', async () => {
    const payer = await aPayer(service)
    const payment = await orderLater(payer, merchant.sells('/gone', answerWith(502)))
    const pauses: number[] = []
    for (let minutes = 1; minutes <= 3; minutes++) {
      const { dueAt, updatedAt } = await carriedOut(payer, payment, 'waiting')
      pauses.push(Math.round((Date.parse(String(dueAt)) - Date.parse(updatedAt)) / 1_000))
      await advance(payer.client, { minutes })
      await until('it was asked again', () => merchant.visits('/gone').length > pauses.length)
    }
    expect(pauses.every((pause, n) => n === 0 || pause > Number(pauses[n - 1]))).toBe(true)
    await advance(payer.client, { days: 31 })
    const ended = await until('it has ended', async () => {
      const found = await paymentOf(payer, payment)
      return found.status === 'ended' ? found : undefined
    })
    expect(['merchant_busy', 'intent_expired']).toContain(ended.reason)
  })

  test('is not asked again once the intent is cancelled: the payment ends with it', async () => {
    const payer = await aPayer(service)
    const payment = await orderLater(payer, merchant.sells('/cancelled', answerWith(503)))
    await carriedOut(payer, payment, 'waiting')
    const asked = merchant.visits('/cancelled').length
    await bodyOf(payer.client.intents.cancel({ params: { id: payer.intent.id }, body: {} }))
    expect(await paymentOf(payer, payment)).toMatchObject({ status: 'ended', reason: 'intent_cancelled' })
    expect(merchant.visits('/cancelled')).toHaveLength(asked)
  })

  test('is not asked again for a request that may have an effect', async () => {
    const payer = await aPayer(service)
    const payment = await orderLater(payer, merchant.sells('/posted', answerWith(503)), { body: 'order' })
    expect(await carriedOut(payer, payment, 'ended')).toMatchObject({ reason: 'merchant_busy' })
    expect(merchant.visits('/posted')).toHaveLength(1)
  })

  test.each([
    ['a time within an hour', '1800', 1_800],
    ['more than an hour', '86400', 3_600],
    ['less than the second pause', '1', 60],
  ])('is asked again no earlier than it says, up to an hour: %s', async (_, given, seconds) => {
    const payer = await aPayer(service)
    const url = merchant.sells(`/asks-${given}`, answerWith(503, { 'retry-after': given }))
    const payment = await orderLater(payer, url)
    const { dueAt, updatedAt } = await carriedOut(payer, payment, 'waiting')
    const pause = (Date.parse(String(dueAt)) - Date.parse(updatedAt)) / 1_000
    expect(Math.abs(pause - seconds)).toBeLessThan(1)
  })

  test('that asks to wait beyond the end of the intent ends the payment', async () => {
    const payer = await aPayer(service)
    const url = merchant.sells('/asks-too-long', answerWith(503, { 'retry-after': '3600' }))
    const payment = await orderLater(payer, url)
    await service.sql(`update intents set expires_at = now() + interval '30 minutes' where id = $1`, [
      payer.intent.id,
    ])
    expect(await carriedOut(payer, payment, 'ended')).toMatchObject({ reason: 'merchant_busy', dueAt: null })
  })

  test.each([
    [429, '120', '120'],
    [503, '86400', '3600'],
    [500, undefined, '30'],
  ])('that answers %i, Retry-After %s, is busy for a caller that waits, too', async (status, given, told) => {
    const payer = await aPayer(service)
    const path = `/busy-${status}`
    const url = merchant.sells(path, answerWith(status, given === undefined ? {} : { 'retry-after': given }))
    const key = { idempotencyKey: `busy-${status}` }
    const refused = await pay(payer, url, {}, key)
    expect(refused).toMatchObject({ status: 503, code: 'merchant_busy' })
    expect(refused.error).toContain(`The merchant answered ${status}`)
    expect(refused.headers.get('retry-after')).toBe(told)
    merchant.sells(path, demand())
    expect(await pay(payer, url, {}, key)).toMatchObject({ status: 200 })
    expect(merchant.payments(path)).toHaveLength(1)
  })

  test('tells a pause no longer than the life of the intent', async () => {
    const payer = await aPayer(service)
    await service.sql(`update intents set expires_at = now() + interval '10 minutes' where id = $1`, [
      payer.intent.id,
    ])
    const url = merchant.sells('/busy-longer', answerWith(503, { 'retry-after': '3600' }))
    const refused = await pay(payer, url)
    const told = Number(refused.headers.get('retry-after'))
    expect([refused.code, told > 500 && told <= 600]).toEqual(['merchant_busy', true])
  })
})

const aPayingHost = async (members: object) => {
  const payer = await aPayer(service, members)
  const { token } = await aToken(payer.client, payer.agent.id)
  return { payer, host: aHost(service.url, String(token)) }
}
const given = ({ intent }: Payer, url: string) => ({ url, intentId: intent.id })

describe('pay_http_402, for a host that waits,', () => {
  const aCall = async (path: string) => {
    const { payer, host } = await aPayingHost({})
    const named = { name: 'pay_http_402', arguments: given(payer, merchant.sells(path, breaks)) }
    return { payer, call: async () => (await send(host, 'tools/call', named, {})).result }
  }
  const breaks: Conduct = (_, response) => response.destroy()

  test('is a new attempt after the merchant was away, as nothing was paid', async () => {
    const { call } = await aCall('/away-once')
    expect((await call()).structuredContent).toMatchObject({ error: { code: 'merchant_unusable' } })
    merchant.sells('/away-once', demand(), sell({ report: 42 }))
    expect((await call()).structuredContent).toMatchObject({ merchant_body: { report: 42 } })
    expect(merchant.payments('/away-once')).toHaveLength(1)
  })

  test('has the same answer while it is unknown whether it was paid, and sends nothing again', async () => {
    const { call } = await aCall('/doubtful')
    merchant.sells('/doubtful', demand(), breaks)
    const unknown = { error: { code: 'payment_indeterminate' } }
    expect((await call()).structuredContent).toMatchObject(unknown)
    expect((await call()).structuredContent).toMatchObject(unknown)
    expect(merchant.payments('/doubtful')).toHaveLength(1)
  })
})

describe('pay_http_402, for a host that takes tasks,', () => {
  test('is a task that waits for the person, and ends with what was bought', async () => {
    const { payer, host } = await aPayingHost({ rules: { autoApproveLimitEuros: 1 } })
    const url = merchant.sells('/task', demand(), sell({ report: 42 }))
    const task = await host.call('pay_http_402', given(payer, url))
    expect(task).toMatchObject({ resultType: 'task', status: 'working' })
    expect(task.statusMessage).toContain(`/approve/${payer.intent.id}`)
    await approve(payer)
    await advance(payer.client, { minutes: 1 })
    const done = await until('the task is completed', async () => {
      const { result } = await host.get(task.taskId)
      return result.status === 'completed' ? result : undefined
    })
    expect(done.result.structuredContent).toMatchObject({ merchant_body: { report: 42 } })
    const again = await host.call('pay_http_402', given(payer, url))
    expect(again.structuredContent).toMatchObject({ merchant_body: { report: 42 } })
    expect(merchant.payments('/task')).toHaveLength(1)
  })

  test('is a new attempt after it has ended unpaid, since the obstacle may be gone', async () => {
    const { payer, host } = await aPayingHost({})
    const url = merchant.sells('/task-again', answerWith(200))
    const completed = async ({ taskId }: { readonly taskId: string }) => {
      await advance(payer.client, { minutes: 1 })
      return until('the task is completed', async () => {
        const { result } = await host.get(taskId)
        return result.status === 'completed' ? result.result : undefined
      })
    }
    const ended = await completed(await host.call('pay_http_402', given(payer, url)))
    expect(ended.structuredContent.error.code).toBe('no_challenge')
    merchant.sells('/task-again', demand(), sell({ report: 42 }))
    const paid = await completed(await host.call('pay_http_402', given(payer, url)))
    expect(paid.structuredContent).toMatchObject({ merchant_body: { report: 42 } })
    expect(merchant.payments('/task-again')).toHaveLength(1)
  })

  test('ends with its intent where the client cancels the task', async () => {
    const { payer, host } = await aPayingHost({ rules: { autoApproveLimitEuros: 1 } })
    const { taskId } = await host.call('pay_http_402', given(payer, merchant.sells('/task-off', demand())))
    await host.cancel(taskId)
    const { result } = await host.get(taskId)
    expect([result.status, result.result.isError]).toEqual(['completed', true])
    expect(result.result.structuredContent).toMatchObject({ error: { code: 'intent_cancelled' } })
    expect(await intentOf(payer)).toMatchObject({ status: 'cancelled' })
  })

  test('is no task of another token', async () => {
    const { payer, host } = await aPayingHost({ rules: { autoApproveLimitEuros: 1 } })
    const { taskId } = await host.call('pay_http_402', given(payer, merchant.sells('/task-own', demand())))
    const other = await aPayingHost({})
    expect((await other.host.get(taskId)).error).toMatchObject({ message: 'taskId: no such task.' })
  })
})
