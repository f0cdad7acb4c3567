import { afterAll, beforeAll, describe, expect } from '@jest/globals'
import { aPayingCard } from '../../support/cards/network.ts'
import { clientAt } from '../../support/client.ts'
import { decided, demand, sell, startMerchant } from '../../support/commerce/merchant.ts'
import { cloneDatabase } from '../../support/database.ts'
import { anIntent, bodyOf } from '../../support/factories.ts'
import { type Api, createOwner, startApi } from '../../support/processes/processes.ts'
import { testKills } from '../../support/tier.ts'
import { expectVerifiedLedger } from '../../support/verified-ledger.ts'

const merchant = await startMerchant()

describe('an API process that is killed while it pays a merchant', () => {
  const env = { OUTBOUND_ALLOW_CIDRS: '127.0.0.1' }
  let databaseUrl: string
  let api: Api
  let token: string
  let payer: Awaited<ReturnType<typeof aPayingCard>>
  const mine = () => clientAt({ url: api.url, token })
  const restart = async () => {
    await api.exit
    api = await startApi(databaseUrl, env)
  }
  const pay = (url: string, intentId: string) =>
    mine()
      .mpp.pay({
        body: { url, intentId, cardId: payer.card.id },
        headers: { 'idempotency-key': `pay-${intentId}` },
      })
      .catch(() => undefined)
  const anApprovedIntent = async () => {
    const { id } = await anIntent(mine(), payer.agent.id, { merchant: '127.0.0.1', amountEuros: 20 })
    await mine().intents.approve({ params: { id }, body: {} })
    return id
  }
  const balance = () => bodyOf(mine().agents.balance({ params: { id: payer.agent.id } }))
  const kill = () => api.kill('SIGKILL')
  beforeAll(async () => {
    databaseUrl = await cloneDatabase()
    api = await startApi(databaseUrl, env)
    token = await createOwner(api.url)
    payer = await aPayingCard(mine(), 1_000)
  })
  afterAll(async () => {
    api.kill('SIGTERM')
    await api.exit
  })

  async function leavesOneOutcome(): Promise<void> {
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
  }

  async function goesOn(): Promise<void> {
    const asked = await anApprovedIntent()
    expect(await pay(merchant.sells('/asked', kill), asked)).toBeUndefined()
    await restart()
    merchant.sells('/asked', demand())
    expect(merchant.payments('/asked')).toEqual([])
    expect(await decided(() => pay(`${merchant.url}/asked`, asked))).toMatchObject({ status: 200 })
    expect(merchant.payments('/asked')).toHaveLength(1)
    await expectVerifiedLedger(mine())
  }

  testKills({
    'once it has sent the payment, leaves one open outcome': leavesOneOutcome,
    'while it asks for the price, has paid nothing: the repetition pays once': goesOn,
  })
})
