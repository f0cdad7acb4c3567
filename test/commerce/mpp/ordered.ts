import { afterAll, describe, expect, test } from '@jest/globals'
import { sandboxRates } from '../../../src/adapters/exchange-rates/sandbox.ts'
import { areas } from '../../../src/areas.ts'
import { activitiesOf } from '../../support/activities.ts'
import { answerWith, demand, sell, startMerchant } from '../../support/commerce/merchant.ts'
import { aPayer, balanceOf, credentialsOn, type Payer, pay } from '../../support/commerce/payers.ts'
import { openEngine } from '../../support/engine.ts'
import { bodyOf } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'
import { tablesWith } from '../../support/trace.ts'
import { until } from '../../support/until.ts'
import { service } from './service.ts'

const merchant = await startMerchant()
const alone = await startTestService({ env: { OUTBOUND_ALLOW_CIDRS: '127.0.0.1', MPP_WORKFLOWS: 'run' } })

const paymentOf = async ({ client, intent }: Payer, sql = service.sql) => {
  const [row] = await sql<{ id: string }>('select id from mpp_payments where intent_id = $1', [intent.id])
  return bodyOf(client.mpp.payment({ params: { id: String(row?.id) } }))
}

describe('a machine payment as a record', () => {
  test('is ordering while the merchant is asked, then paid, with the id of its credential', async () => {
    const payer = await aPayer(service)
    let meanwhile: unknown
    const url = merchant.sells(
      '/ordered',
      async (visit, response) => {
        meanwhile = await paymentOf(payer)
        demand()(visit, response)
      },
      sell({ report: 42 }),
    )
    const paid = await bodyOf(pay(payer, `${url}?key=secret`))
    expect(meanwhile).toMatchObject({
      status: 'ordering',
      credentialId: null,
      url,
      answer: null,
      reason: null,
    })
    const payment = await paymentOf(payer)
    expect(payment).toMatchObject({
      status: 'paid',
      id: paid.credential_id,
      credentialId: paid.credential_id,
    })
  })

  test('shows its answer to the token that has asked for it, and to no other caller', async () => {
    const payer = await aPayer(service)
    const paid = await bodyOf(pay(payer, merchant.sells('/answered', demand(), sell({ report: 42 }))))
    const params = { id: paid.credential_id }
    expect((await bodyOf(payer.agentClient.mpp.payment({ params }))).answer).toEqual(paid)
    expect((await bodyOf(payer.client.mpp.payment({ params }))).answer).toBeNull()
    const other = await aPayer(service)
    expect(await other.client.mpp.payment({ params })).toMatchObject({
      status: 404,
      code: 'machine_payment_not_found',
    })
    await service.sql(`update mpp_answers set expires_at = now() where id = $1`, [params.id])
    expect((await bodyOf(payer.agentClient.mpp.payment({ params }))).answer).toBeNull()
  })

  test('ends with a reason where nothing could be minted, and says so in an event', async () => {
    const payer = await aPayer(service)
    const before = await balanceOf(payer)
    const url = merchant.sells('/free', answerWith(200))
    expect(await pay(payer, url)).toMatchObject({ status: 400, code: 'no_challenge' })
    const payment = await paymentOf(payer)
    expect(payment).toMatchObject({ status: 'ended', reason: 'no_challenge', credentialId: null })
    const events = await service.sql<{ event: string }>(
      `select event from events where resource_id = $1 order by id`,
      [payment.id],
    )
    expect(events.map(({ event }) => event)).toEqual(['mpp.payment.created', 'mpp.payment.ended'])
    expect(await balanceOf(payer)).toEqual(before)
  })

  test('keeps what is sent and answered sealed, and the request no longer than it is needed', async () => {
    const payer = await aPayer(service)
    const secrets = { headers: { authorization: 'Bearer of-this-caller' }, body: 'body-of-this-caller' }
    const found: string[][] = []
    const url = merchant.sells(
      '/sealed',
      async (visit, response) => {
        found.push(await tablesWith(service, 'of-this-caller'), await tablesWith(service, 'query-of-it'))
        demand()(visit, response)
      },
      sell({ report: 'bought-by-this-caller' }),
    )
    await bodyOf(pay(payer, `${url}?key=query-of-it`, secrets))
    found.push(await tablesWith(service, 'bought-by-this-caller'))
    expect(found).toEqual([[], [], []])
    const [row] = await service.sql(
      `select request, credential, (select count(*)::int from mpp_answers a where a.id = p.id) as answers
       from mpp_payments p where intent_id = $1`,
      [payer.intent.id],
    )
    expect(row).toEqual({ request: null, credential: null, answers: 1 })
  })
})

describe('with MPP_WORKFLOWS=run and no worker', () => {
  test('an order that nobody waits for is due at once, so that it is taken up as soon as its run is late', async () => {
    const payer = await aPayer(alone)
    const url = merchant.sells('/nobody-waits', demand())
    const { status, body } = await pay(payer, url, {}, { headers: { prefer: 'respond-async' } })
    expect(status).toBe(202)
    const { id } = body as unknown as { id: string }
    const [row] = await alone.sql(
      'select due_at <= created_at as "isDue", claimed_by from mpp_payments where id = $1',
      [id],
    )
    expect(row).toEqual({ isDue: true, claimed_by: null })
    await bodyOf(payer.client.sandbox.advance({ body: { seconds: 1 } }))
    const { status: outcome } = await bodyOf(payer.client.mpp.payment({ params: { id } }))
    expect(outcome).toBe('paid')
  })

  test('the request takes the steps itself, the next ones at once', async () => {
    for (const path of ['/alone', '/alone-again']) {
      const payer = await aPayer(alone)
      const url = merchant.sells(path, demand(), sell())
      const paid = await bodyOf(pay(payer, url))
      const [credential] = await credentialsOn(payer.client, payer.intent.id)
      expect(credential).toMatchObject({ status: 'consumed', workflowId: `mpp/${paid.credential_id}` })
      expect(merchant.payments(path)).toHaveLength(1)
    }
  })
})

describe('several processes at one payment', () => {
  const workers = [1, 2, 3].map(() => openEngine(areas, service.databaseUrl))
  const noToken = { name: 'sandbox', networkToken: null, sharedTokens: null }
  for (const { runtime } of workers)
    Object.assign(runtime.ports.systems, {
      cardProcessor: () => noToken,
      exchangeRates: () => sandboxRates(),
    })
  afterAll(() => Promise.all(workers.map(worker => worker.close())))

  test('order and send it once, however often and wherever its steps are taken', async () => {
    const payer = await aPayer(service)
    let ask = (): void => undefined
    const url = merchant.sells(
      '/raced',
      (visit, response) => {
        ask = () => demand()(visit, response)
      },
      sell(),
    )
    const paying = pay(payer, url)
    await until('the merchant is asked', () => merchant.visits('/raced').length > 0)
    const { id } = await paymentOf(payer)
    const ref = { id, ownerId: payer.owner.ownerId, mode: 'test' } as const
    const caller = { requestIdOf: () => `workflow:mpp/${id}` }
    const runs = workers.map(worker => activitiesOf(worker.runtime)(caller))
    const race = async () => {
      for (const run of runs)
        await Promise.all(
          [1, 2, 3, 4].flatMap(() => [
            run.mintCredential(ref),
            run.createSharedToken(ref),
            run.sendCredential(ref),
          ]),
        )
    }
    await race()
    expect(merchant.visits('/raced')).toHaveLength(1)
    ask()
    await Promise.all([paying, race()])
    expect(await paying).toMatchObject({ status: 200 })
    expect(merchant.payments('/raced')).toHaveLength(1)
    expect(await credentialsOn(payer.client, payer.intent.id)).toMatchObject([{ status: 'consumed' }])
  })

  test('one goes on at once where the process that had claimed it is gone', async () => {
    const payer = await aPayer(service)
    let ask = (): void => undefined
    const url = merchant.sells('/left', (visit, response) => {
      ask = () => demand()(visit, response)
    })
    const left = pay(payer, url)
    await until('the merchant is asked', () => merchant.visits('/left').length > 0)
    const { id } = await paymentOf(payer)
    const ref = { id, ownerId: payer.owner.ownerId, mode: 'test' } as const
    const [worker] = workers
    if (!worker) throw new Error('no worker')
    const run = activitiesOf(worker.runtime)({ requestIdOf: () => `workflow:mpp/${id}` })
    expect(await run.readMachinePayment(ref)).toMatchObject({ status: 'ordering', next: 'wait' })
    await service.sql(`update mpp_payments set claimed_by = 'a process that has died' where id = $1`, [id])
    expect(await run.readMachinePayment(ref)).toMatchObject({ status: 'ordering', next: 'order' })
    await service.sql(`update mpp_payments set claimed_by = null, due_at = now() where id = $1`, [id])
    await run.interruptOrder(ref)
    expect(await paymentOf(payer)).toMatchObject({ status: 'ended', reason: 'interrupted' })
    // Its caller still waits: it is ordered anew.
    merchant.sells('/left', demand())
    ask()
    const paid = await left
    expect(paid.status).toBe(200)
    expect(paid.body.credential_id).not.toBe(id)
    expect(merchant.payments('/left')).toHaveLength(1)
  })
})

test('an order that nothing has taken up for five minutes ends, and its request pays by another one', async () => {
  const payer = await aPayer(service)
  let ask = (): void => undefined
  const url = merchant.sells('/late', (visit, response) => {
    ask = () => demand()(visit, response)
  })
  const key = { idempotencyKey: 'five-minutes-late' }
  const late = pay(payer, url, {}, key)
  await until('the merchant is asked', () => merchant.visits('/late').length > 0)
  const { id } = await paymentOf(payer)
  await service.sql(
    `update mpp_payments set claimed_by = null, due_at = now(), created_at = created_at - interval '5 minutes'
     where id = $1`,
    [id],
  )
  await bodyOf(payer.client.sandbox.advance({ body: { minutes: 1 } }))
  expect(await paymentOf(payer)).toMatchObject({ status: 'ended', reason: 'interrupted' })
  expect(merchant.visits('/late')).toHaveLength(1)
  merchant.sells('/late', demand())
  ask()
  const paid = await late
  expect(paid.status).toBe(200)
  expect(paid.body.credential_id).not.toBe(id)
  expect(await pay(payer, url, {}, key)).toMatchObject({ status: 200, body: paid.body })
  expect(merchant.payments('/late')).toHaveLength(1)
})

describe('a request that has answered before the outcome', () => {
  /** As the request marks what it leaves under its key. */
  const leave = (key: string) =>
    service.sql(`update idempotency_keys set leased_by = 'left' where key = $1 and status is null`, [key])

  test('is repeated by its key: it waits for what is under way, and pays once', async () => {
    const payer = await aPayer(service)
    let ask = (): void => undefined
    const url = merchant.sells('/goes-on', (visit, response) => {
      ask = () => demand()(visit, response)
    })
    const key = { idempotencyKey: 'goes-on' }
    const first = pay(payer, url, {}, key)
    await until('the merchant is asked', () => merchant.visits('/goes-on').length > 0)
    await leave(key.idempotencyKey)
    const second = pay(payer, url, {}, key)
    await until('the repetition has taken the key', async () => {
      const rows = await service.sql(
        `select 1 from idempotency_keys where key = $1 and leased_by <> 'left'`,
        [key.idempotencyKey],
      )
      return rows.length > 0
    })
    ask()
    const [one, other] = await Promise.all([first, second])
    expect([one.status, other.status]).toEqual([200, 200])
    expect(other.body).toEqual(one.body)
    expect(merchant.visits('/goes-on')).toHaveLength(2)
    expect(merchant.payments('/goes-on')).toHaveLength(1)
  })

  test('is repeated while the merchant has the credential: it waits for that answer', async () => {
    const payer = await aPayer(service)
    let give = (): void => undefined
    const url = merchant.sells('/has-it', demand(), (visit, response) => {
      give = () => sell()(visit, response)
    })
    const key = { idempotencyKey: 'has-it' }
    const first = pay(payer, url, {}, key)
    await until('it is sent', () => merchant.payments('/has-it').length > 0)
    await leave(key.idempotencyKey)
    const second = pay(payer, url, {}, key)
    await until('the repetition has taken the key', async () => {
      const rows = await service.sql(
        `select 1 from idempotency_keys where key = $1 and leased_by <> 'left'`,
        [key.idempotencyKey],
      )
      return rows.length > 0
    })
    give()
    const [one, other] = await Promise.all([first, second])
    expect([one.status, other.status]).toEqual([200, 200])
    expect(other.body).toEqual(one.body)
    expect(merchant.payments('/has-it')).toHaveLength(1)
  })
})

describe('a request that 0.7.0 has left', () => {
  test.each([
    ['before it had minted', { stage: 'ask' }],
    ['while its token was created', { stage: 'share', credentialId: 'mppcredential_1' }],
  ])('%s goes on, and pays once', async (_, reservation) => {
    const payer = await aPayer(service)
    const path = `/of-070-${reservation.stage}`
    const url = merchant.sells(path, answerWith(200))
    const key = { idempotencyKey: `of-070-${reservation.stage}` }
    await pay(payer, url, {}, key)
    merchant.sells(path, demand())
    await service.sql(
      `update idempotency_keys set status = null, body = null, error_code = null, reservation = $2, leased_by = 'gone'
       where key = $1`,
      [key.idempotencyKey, reservation],
    )
    expect(await pay(payer, url, {}, key)).toMatchObject({ status: 200 })
    expect(await pay(payer, url, {}, key)).toMatchObject({ status: 200 })
    expect(merchant.payments(path)).toHaveLength(1)
  })

  test('after it had sent the credential leaves the outcome open', async () => {
    const payer = await aPayer(service)
    const url = merchant.sells('/sent-by-070', demand(), answerWith(500))
    const key = { idempotencyKey: 'of-070-send' }
    await pay(payer, url, {}, key)
    const [credential] = await credentialsOn(payer.client, payer.intent.id)
    await service.sql(`update mpp_credentials set status = 'sent' where id = $1`, [credential?.id])
    for (const table of ['mpp_payments', 'mpp_answers'])
      await service.sql(`delete from ${table} where id = $1`, [credential?.id])
    await service.sql(
      `update idempotency_keys set status = null, body = null, error_code = null, reservation = $2, leased_by = 'gone'
       where key = $1`,
      [key.idempotencyKey, { stage: 'send', credentialId: credential?.id }],
    )
    expect(await pay(payer, url, {}, key)).toMatchObject({ status: 502, code: 'payment_indeterminate' })
    expect(merchant.payments('/sent-by-070')).toHaveLength(1)
  })
})
