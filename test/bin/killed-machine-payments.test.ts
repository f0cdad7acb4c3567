import { expect, test } from '@jest/globals'
import { areas } from '../../src/areas.ts'
import { client } from '../../src/derive/client.ts'
import { aPayingCard } from '../support/cards/network.ts'
import { demand, sell, startMerchant } from '../support/commerce/merchant.ts'
import { cloneDatabase } from '../support/database.ts'
import { anIntent, bodyOf } from '../support/factories.ts'
import { createOwner, startApi } from '../support/processes/processes.ts'
import { withConnection } from '../support/rows.ts'
import { expectVerifiedLedger } from '../support/verified-ledger.ts'

const merchant = await startMerchant()

/** The lease of a call that was cut off runs out after two minutes of real time. */
const LAPSE = `update idempotency_keys set created_at = created_at - interval '3 minutes'`

test('an API process that is killed while it pays a merchant has paid nothing, or leaves one open outcome', async () => {
  const databaseUrl = await cloneDatabase()
  const env = { OUTBOUND_ALLOW_CIDRS: '127.0.0.1' }
  let api = await startApi(databaseUrl, env)
  const token = await createOwner(api.url)
  const mine = () => client(areas, { url: api.url, token })
  const { agent, card } = await aPayingCard(mine(), 1_000)
  const restart = async () => {
    await api.exit
    api = await startApi(databaseUrl, env)
  }
  const lapseLease = () => withConnection(databaseUrl, connection => connection.query(LAPSE))
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
  await lapseLease()
  merchant.sells('/asked', demand())
  expect(await pay(`${merchant.url}/asked`, asked)).toMatchObject({ status: 503, code: 'pay_interrupted' })
  expect(merchant.payments('/asked')).toEqual([])

  const sent = await anApprovedIntent()
  const before = await balance()
  expect(await pay(merchant.sells('/sent', demand(), kill), sent)).toBeUndefined()
  await restart()
  await lapseLease()
  merchant.sells('/sent', demand(), sell())
  expect(await pay(`${merchant.url}/sent`, sent)).toMatchObject({
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
