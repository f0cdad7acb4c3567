import './billing/acquirer.ts'
import './billing/payment-methods.ts'
import { describe, expect, test } from '@jest/globals'
import { isCreditorReference } from '../../src/values/creditor-reference.ts'
import { statusCounts, times } from '../support/at-once.ts'
import { aLiveClient, aPaymentMethod, aWallet, bodyOf, type TestClient } from '../support/factories.ts'
import { startTestService } from '../support/harness.ts'
import { traceOf } from '../support/trace.ts'
import { expectVerifiedLedger } from '../support/verified-ledger.ts'

const bare = await startTestService()
const service = await startTestService({
  env: {
    COLLECTION_IBAN: 'de89 3704 0044 0532 0130 00',
    COLLECTION_BIC: 'COBADEFFXXX',
    ACCOUNT_HOLDER: 'Adler Payments GmbH',
  },
})

const FOREIGN = 'NL91ABNA0417164300'

const close = (client: TestClient, id: string) => bodyOf(client.wallets.close({ params: { id } }))
const provenLedger = (client: TestClient) => expectVerifiedLedger(client)

describe('the balance', () => {
  test('is zero for a new owner', async () => {
    const { client } = await service.owner()
    expect(await bodyOf(client.billing.balance())).toEqual({
      currency: 'EUR',
      availableEuros: 0,
      heldEuros: 0,
      pendingEuros: 0,
      unassignedEuros: 0,
      owedEuros: 0,
      wallets: 0,
    })
  })

  test('sums over open wallets, and includes pending fundings', async () => {
    const { client } = await service.owner()
    const [wallet] = [await aWallet(client, 10.01), await aWallet(client, 20.02)]
    await close(client, (await aWallet(client)).id)
    const { id: paymentMethodId } = await aPaymentMethod(client)
    for (const amountEuros of [13.03, 13.04, 13.01])
      await client.fund.wallet({ params: { id: wallet.id }, body: { amountEuros, paymentMethodId } })
    await bodyOf(
      client.incoming.simulate({ body: { iban: FOREIGN, amountEuros: 7.5, senderName: 'Adler GmbH' } }),
    )
    expect(await bodyOf(client.billing.balance())).toMatchObject({
      availableEuros: 30.03,
      pendingEuros: 26.07,
      unassignedEuros: 7.5,
      wallets: 2,
    })
    const { client: stranger } = await service.owner()
    expect(await bodyOf(stranger.billing.balance())).toMatchObject({ availableEuros: 0, wallets: 0 })
  })
})

describe('the SEPA details', () => {
  test('are those of the wallet, and money sent with them arrives', async () => {
    const { client } = await service.owner()
    const { id, iban, bic } = await aWallet(client)
    const details = await bodyOf(client.billing.sepaDetails({ query: { walletId: id } }))
    expect(details).toEqual({
      walletId: id,
      iban,
      bic,
      holder: 'Adler Payments GmbH',
      reference: expect.stringMatching(/^RF\d{12}$/),
    })
    expect(isCreditorReference(details.reference)).toBe(true)
    for (const sent of [{ iban: details.iban }, { iban: FOREIGN, reference: `Thanks! ${details.reference}` }])
      await bodyOf(client.incoming.simulate({ body: { ...sent, amountEuros: 5, senderName: 'Ada' } }))
    expect((await bodyOf(client.wallets.get({ params: { id } }))).availableEuros).toBe(10)
  })

  test('are of the oldest open wallet when none is named', async () => {
    const { client } = await service.owner()
    const wallets = [await aWallet(client), await aWallet(client), await aWallet(client)]
    const named = async () => (await bodyOf(client.billing.sepaDetails())).walletId
    expect(await named()).toBe(wallets[0]?.id)
    await close(client, String(wallets[0]?.id))
    expect(await named()).toBe(wallets[1]?.id)
  })

  test('have a different reference for each wallet', async () => {
    const { client } = await service.owner()
    const wallets = await times(10, () => aWallet(client))
    const details = wallets.map(({ id }) => bodyOf(client.billing.sepaDetails({ query: { walletId: id } })))
    expect(new Set((await Promise.all(details)).map(({ reference }) => reference)).size).toBe(10)
  })

  test('are for the owner’s open wallets only', async () => {
    const [{ client }, stranger] = [await service.owner(), await service.owner()]
    expect(await client.billing.sepaDetails()).toMatchObject({ status: 404, code: 'wallet_not_found' })
    const [theirs, shut] = [await aWallet(stranger.client), await aWallet(client)]
    await close(client, shut.id)
    const of = (walletId: string) => client.billing.sepaDetails({ query: { walletId } })
    expect((await of(theirs.id)).code).toBe('wallet_not_found')
    expect((await of(shut.id)).code).toBe('wallet_closed')
  })

  test('of a live wallet name the configured account', async () => {
    const live = await aLiveClient(service, await service.owner())
    const { id } = await aWallet(live)
    expect(await bodyOf(live.billing.sepaDetails())).toMatchObject({
      walletId: id,
      iban: 'DE89370400440532013000',
      bic: 'COBADEFFXXX',
      holder: 'Adler Payments GmbH',
    })
    const without = await aLiveClient(bare, await bare.owner())
    await aWallet(without)
    const answer = await without.billing.sepaDetails()
    expect(answer).toMatchObject({ status: 503, code: 'no_account' })
    expect(answer.error).toContain('COLLECTION_IBAN')
  })
})

describe('the deposit at the card processor', () => {
  const move = (client: TestClient, fromWalletId: string | null, amountEuros: number) =>
    client.billing.fundProcessor({ body: { fromWalletId, amountEuros } })
  const lies = async (client: TestClient) => (await bodyOf(client.billing.processor())).balanceEuros

  test('is funded from a wallet', async () => {
    const { client } = await service.owner()
    const { id } = await aWallet(client, 100)
    expect(await lies(client)).toBe(0)
    const answer = await move(client, id, 30.5)
    expect(answer).toMatchObject({ status: 200, body: { currency: 'EUR', balanceEuros: 30.5 } })
    expect((await traceOf(service, answer))?.events).toEqual(['processor.funded'])
    expect(await bodyOf(move(client, null, 9.5))).toEqual({ currency: 'EUR', balanceEuros: 40 })
    expect([
      await lies(client),
      (await bodyOf(client.wallets.get({ params: { id } }))).availableEuros,
    ]).toEqual([40, 60])
    expect((await bodyOf(client.billing.balance())).availableEuros).toBe(60)
    await provenLedger(client)
  })

  test('is funded up to what the wallet has by concurrent requests', async () => {
    const { client } = await service.owner()
    const { id } = await aWallet(client, 10)
    expect(statusCounts(await times(20, () => move(client, id, 1)))).toEqual({ 200: 10, 400: 10 })
    const answer = await move(client, id, 0.01)
    expect(answer).toMatchObject({ status: 400, code: 'insufficient_funds' })
    expect(answer.error).toBe('€ 0.01 is needed, but only € 0.00 is available.')
    expect(await lies(client)).toBe(10)
    await provenLedger(client)
  })

  test('is not funded from a closed, frozen, foreign or unknown wallet', async () => {
    const [{ client }, stranger] = [await service.owner(), await service.owner()]
    expect((await move(client, null, 1)).code).toBe('wallet_not_found')
    const [shut, frozen, theirs] = [
      await aWallet(client),
      await aWallet(client, 5),
      await aWallet(stranger.client, 5),
    ]
    await close(client, shut.id)
    await bodyOf(client.wallets.update({ params: { id: frozen.id }, body: { status: 'frozen' } }))
    const codes = await Promise.all(
      [shut, frozen, theirs].map(async ({ id }) => (await move(client, id, 1)).code),
    )
    expect(codes).toEqual(['wallet_closed', 'wallet_frozen', 'wallet_not_found'])
  })

  const takeBack = (client: TestClient, toWalletId: string | null, amountEuros: number) =>
    client.billing.withdrawFromProcessor({ body: { toWalletId, amountEuros } })

  test('goes back to a wallet, the oldest open one if none is named', async () => {
    const { client } = await service.owner()
    const [main, other] = [await aWallet(client, 100), await aWallet(client)]
    await bodyOf(move(client, main.id, 60))
    const answer = await takeBack(client, other.id, 20.5)
    expect(answer).toMatchObject({ status: 200, body: { currency: 'EUR', balanceEuros: 39.5 } })
    expect((await traceOf(service, answer))?.events).toEqual(['processor.withdrawn'])
    expect(await bodyOf(takeBack(client, null, 39.5))).toEqual({ currency: 'EUR', balanceEuros: 0 })
    const { data } = await bodyOf(client.events.list({ query: { event: 'processor.withdrawn' } }))
    expect(data[1]?.data).toEqual({ walletId: other.id, amountEuros: 20.5, balanceEuros: 39.5 })
    const left = async (id: string) => (await bodyOf(client.wallets.get({ params: { id } }))).availableEuros
    expect([await left(main.id), await left(other.id)]).toEqual([79.5, 20.5])
    await provenLedger(client)
  })

  test('goes back by concurrent requests up to what there is', async () => {
    const { client } = await service.owner()
    const { id } = await aWallet(client, 10)
    await bodyOf(move(client, id, 10))
    expect(statusCounts(await times(20, () => takeBack(client, id, 1)))).toEqual({ 200: 10, 400: 10 })
    const answer = await takeBack(client, id, 0.01)
    expect(answer).toMatchObject({ status: 400, code: 'insufficient_funds' })
    expect(answer.error).toBe('€ 0.01 is needed, but only € 0.00 is available.')
    expect((await bodyOf(client.wallets.get({ params: { id } }))).availableEuros).toBe(10)
    await provenLedger(client)
  })

  test('goes back to a frozen wallet, and to no closed, foreign or unknown one', async () => {
    const [{ client }, stranger] = [await service.owner(), await service.owner()]
    expect((await takeBack(client, null, 1)).code).toBe('wallet_not_found')
    const [shut, frozen, theirs] = [
      await aWallet(client),
      await aWallet(client, 5),
      await aWallet(stranger.client),
    ]
    await bodyOf(move(client, frozen.id, 5))
    await close(client, shut.id)
    await bodyOf(client.wallets.update({ params: { id: frozen.id }, body: { status: 'frozen' } }))
    const codes = [shut, theirs].map(async ({ id }) => (await takeBack(client, id, 1)).code)
    expect(await Promise.all(codes)).toEqual(['wallet_closed', 'wallet_not_found'])
    expect(await lies(client)).toBe(5)
    expect(await bodyOf(takeBack(client, frozen.id, 5))).toMatchObject({ balanceEuros: 0 })
  })

  test('is kept for each owner and mode', async () => {
    const owner = await service.owner()
    const { id } = await aWallet(owner.client, 5)
    await bodyOf(move(owner.client, id, 5))
    expect(await lies(await aLiveClient(service, owner))).toBe(0)
    expect(await lies((await service.owner()).client)).toBe(0)
  })
})
