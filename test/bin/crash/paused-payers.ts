import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { aPayingCard } from '../../support/cards/network.ts'
import { clientAt } from '../../support/client.ts'
import { decided, demand, startMerchant } from '../../support/commerce/merchant.ts'
import { cloneDatabase } from '../../support/database.ts'
import { anIntent, bodyOf } from '../../support/factories.ts'
import { type Api, createOwner, startApi } from '../../support/processes/processes.ts'
import { until } from '../../support/until.ts'

const merchant = await startMerchant()
const pausedDatabase = await cloneDatabase()

describe('an API process that is paused for longer than its lease', () => {
  let paused: Api
  let other: Api
  let token: string
  let payer: Awaited<ReturnType<typeof aPayingCard>>
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

  async function anIntentToPay(): Promise<string> {
    const { id } = await anIntent(at(other), payer.agent.id, { merchant: '127.0.0.1', amountEuros: 20 })
    await at(other).intents.approve({ params: { id }, body: {} })
    return id
  }

  const payAt = (api: Api, url: string, intentId: string) =>
    at(api).mpp.pay({ body: { url, intentId, cardId: payer.card.id }, idempotencyKey: `pay-${intentId}` })

  test('pays nothing where another process has gone on meanwhile, and gives the same answer', async () => {
    const intent = await anIntentToPay()
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
