import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { aPayingCard } from '../../support/cards/network.ts'
import { clientAt } from '../../support/client.ts'
import { decided, demand, startMerchant } from '../../support/commerce/merchant.ts'
import { cloneDatabase } from '../../support/database.ts'
import { anIntent, bodyOf, type TestClient } from '../../support/factories.ts'
import { type Api, createOwner, startApi } from '../../support/processes/processes.ts'
import { withConnection } from '../../support/rows.ts'
import { until } from '../../support/until.ts'

const merchant = await startMerchant()
const [pausedDatabase, freedDatabase] = [await cloneDatabase(), await cloneDatabase()]

async function anIntentToPay(client: TestClient, { agent }: Payer): Promise<string> {
  const { id } = await anIntent(client, agent.id, { merchant: '127.0.0.1', amountEuros: 20 })
  await client.intents.approve({ params: { id }, body: {} })
  return id
}

type Payer = Awaited<ReturnType<typeof aPayingCard>>

const paymentOf =
  (client: TestClient, body: { readonly url: string; readonly intentId: string; readonly cardId: string }) =>
  () =>
    client.mpp.pay({ body, idempotencyKey: `pay-${body.intentId}` })

describe('an API process that is paused for longer than its lease', () => {
  let paused: Api
  let other: Api
  let token: string
  let payer: Payer
  const at = ({ url }: Api) => clientAt({ url, token })
  beforeAll(async () => {
    const env = { OUTBOUND_ALLOW_CIDRS: '127.0.0.1' }
    ;[paused, other] = await Promise.all([startApi(pausedDatabase, env), startApi(pausedDatabase, env)])
    token = await createOwner(other.url)
    payer = await aPayingCard(at(other), 1_000)
  })
  afterAll(async () => {
    for (const api of [paused, other]) {
      api.kill('SIGTERM')
      await api.exit
    }
  })

  const payAt = (api: Api, url: string, intentId: string) =>
    paymentOf(at(api), { url, intentId, cardId: payer.card.id })()

  test('pays nothing where another process has gone on meanwhile, and gives the same answer', async () => {
    const intent = await anIntentToPay(at(other), payer)
    let demandNow = (): void => undefined
    const url = merchant.sells('/asked-once', (visit, response) => {
      merchant.sells('/asked-once', demand())
      demandNow = () => demand()(visit, response)
      paused.kill('SIGSTOP')
    })
    const woken = payAt(paused, url, intent)
    await until('the merchant is asked', () => merchant.visits('/asked-once').length > 0)
    expect(await decided(() => payAt(other, url, intent))).toMatchObject({ status: 200 })
    const paid = await bodyOf(payAt(other, url, intent))
    paused.kill('SIGCONT')
    demandNow()
    expect(await woken).toMatchObject({ status: 200, body: paid })
    expect(merchant.payments('/asked-once')).toHaveLength(1)
    expect((await bodyOf(at(other).mpp.list({}))).data).toMatchObject([{ status: 'consumed' }])
  })
})

describe('an API process whose lease was freed although it lives', () => {
  let service: Api
  let client: TestClient
  let payer: Payer
  beforeAll(async () => {
    service = await startApi(freedDatabase, { OUTBOUND_ALLOW_CIDRS: '127.0.0.1' })
    client = clientAt({ url: service.url, token: await createOwner(service.url) })
    payer = await aPayingCard(client, 1_000)
  })
  afterAll(async () => {
    service.kill('SIGTERM')
    await service.exit
  })

  const inDatabase = (text: string) =>
    withConnection(freedDatabase, async database => (await database.query(text)).rows)

  /** Until the process has noticed it. */
  async function freeTheLease() {
    const LEASES = "from process_leases where kind = 'calls'"
    await inDatabase(`delete ${LEASES}`)
    await until('it has another lease', async () => (await inDatabase(`select ${LEASES}`)).length > 0)
  }

  test('gives the same answer to both where the same request has paid while the merchant was asked', async () => {
    const intent = await anIntentToPay(client, payer)
    let demandNow = (): void => undefined
    const url = merchant.sells('/freed', (visit, response) => {
      merchant.sells('/freed', demand())
      demandNow = () => demand()(visit, response)
    })
    const pay = paymentOf(client, { url, intentId: intent, cardId: payer.card.id })
    const late = pay()
    await until('the merchant is asked', () => merchant.visits('/freed').length > 0)
    await freeTheLease()
    expect(await decided(pay)).toMatchObject({ status: 200 })
    const paid = await bodyOf(pay())
    demandNow()
    expect(await late).toMatchObject({ status: 200, body: paid })
    expect(merchant.payments('/freed')).toHaveLength(1)
  })
})
