import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { aPayingCard } from '../support/cards/network.ts'
import { clientAt } from '../support/client.ts'
import { demand, sell, startMerchant } from '../support/commerce/merchant.ts'
import { cloneDatabase } from '../support/database.ts'
import { anIntent, bodyOf } from '../support/factories.ts'
import { type Api, createOwner, startApi } from '../support/processes/processes.ts'
import { until } from '../support/until.ts'
import { expectVerifiedLedger } from '../support/verified-ledger.ts'

const merchant = await startMerchant()
const pausedDatabase = await cloneDatabase()

type Answer = { readonly status: number; readonly code?: string | undefined } | undefined

/** What a repetition is answered with once the lease of the process that was cut off has run out. */
function decided(repeat: () => Promise<Answer>): Promise<Answer> {
  return until('the call is decided', async () => {
    const answer = await repeat()
    return answer && answer.code !== 'in_progress' ? answer : undefined
  })
}

test('an API process that is killed while it pays a merchant has paid nothing, or leaves one open outcome', async () => {
  const databaseUrl = await cloneDatabase()
  const env = { OUTBOUND_ALLOW_CIDRS: '127.0.0.1' }
  let api = await startApi(databaseUrl, env)
  const token = await createOwner(api.url)
  const mine = () => clientAt({ url: api.url, token })
  const { agent, card } = await aPayingCard(mine(), 1_000)
  const restart = async () => {
    await api.exit
    api = await startApi(databaseUrl, env)
  }
  const pay = (url: string, intentId: string) =>
    mine()
      .mpp.pay({
        body: { url, intentId, cardId: card.id },
        headers: { 'idempotency-key': `pay-${intentId}` },
      })
      .catch(() => undefined)
  const anApprovedIntent = async () => {
    const { id } = await anIntent(mine(), agent.id, { merchant: '127.0.0.1', amountEuros: 20 })
    await mine().intents.approve({ params: { id }, body: {} })
    return id
  }
  const balance = () => bodyOf(mine().agents.balance({ params: { id: agent.id } }))
  const kill = () => api.kill('SIGKILL')

  const asked = await anApprovedIntent()
  expect(await pay(merchant.sells('/asked', kill), asked)).toBeUndefined()
  await restart()
  merchant.sells('/asked', demand())
  expect(await decided(() => pay(`${merchant.url}/asked`, asked))).toMatchObject({
    status: 503,
    code: 'pay_interrupted',
  })
  expect(merchant.payments('/asked')).toEqual([])

  const sent = await anApprovedIntent()
  const before = await balance()
  expect(await pay(merchant.sells('/sent', demand(), kill), sent)).toBeUndefined()
  await restart()
  merchant.sells('/sent', demand(), sell())
  expect(await decided(() => pay(`${merchant.url}/sent`, sent))).toMatchObject({
    status: 502,
    code: 'payment_indeterminate',
  })
  expect(merchant.payments('/sent')).toHaveLength(1)
  const { data } = await bodyOf(mine().mpp.list({}))
  expect(data).toMatchObject([{ intentId: sent, status: 'indeterminate' }])
  expect(await balance()).toEqual(before)
  await expectVerifiedLedger(mine())
  api.kill('SIGTERM')
  await api.exit
})

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

  test('neither pays nor records where another process has decided meanwhile', async () => {
    const intent = await anIntentToPay()
    let demandNow = (): void => undefined
    const url = merchant.sells('/asked-once', (visit, response) => {
      demandNow = () => demand()(visit, response)
      paused.kill('SIGSTOP')
    })
    const woken = payAt(paused, url, intent)
    await until('the merchant is asked', () => merchant.visits('/asked-once').length > 0)
    expect(await decided(() => payAt(other, url, intent))).toMatchObject({ code: 'pay_interrupted' })
    paused.kill('SIGCONT')
    demandNow()
    expect(await woken).toMatchObject({ status: 503, code: 'pay_interrupted' })
    expect(merchant.payments('/asked-once')).toEqual([])
    expect((await bodyOf(at(other).mpp.list({}))).data).toEqual([])
  })
})
