import './incoming/handed-over.ts'
import './incoming/incoming-entries.ts'
import './incoming/incoming-files.ts'
import './incoming/own-credits.ts'
import './incoming/owner-payment-crashes.ts'
import './incoming/owner-payments.ts'
import './incoming/reference-numbers.ts'
import './incoming/references.ts'
import './incoming/references-register.ts'
import { describe, expect, test } from '@jest/globals'
import { creditorReferenceFor } from '../../src/money/references/register.ts'
import { statusCounts, times } from '../support/at-once.ts'
import { aLiveClient, aWallet, bodyOf, type TestClient } from '../support/factories.ts'
import { startTestService } from '../support/harness.ts'
import { referenceIn } from '../support/money/incoming.ts'
import { traceOf } from '../support/trace.ts'
import { expectVerifiedLedger } from '../support/verified-ledger.ts'

const service = await startTestService()
const owner = await service.owner()
const { client } = owner

const FOREIGN = 'DE89370400440532013000'

interface Sent {
  iban?: string
  amountEuros?: number
  reference?: string
  bankReference?: string
}

const send = (members: Sent = {}, by: TestClient = client) =>
  by.incoming.simulate({ body: { iban: FOREIGN, amountEuros: 25, senderName: 'Adler GmbH', ...members } })
const balanceOf = async (id: string) => (await bodyOf(client.wallets.get({ params: { id } }))).availableEuros
const assign = (id: string, walletId: string) =>
  service.dash.incoming.assign({ params: { id }, body: { walletId } })
const suspense = async () => {
  const [account] = (await bodyOf(client.ledger.accounts({ query: { kind: 'suspense' } }))).data
  return account?.availableEuros ?? 0
}
const referenceOfWallet = (id: string) => referenceIn(service, id)
const close = (id: string) => bodyOf(client.wallets.close({ params: { id } }))

describe('a credit is matched', () => {
  test.each<[string, (iban: string) => string]>([
    ['plain', iban => iban],
    ['in groups', iban => iban.replace(/(.{4})/g, '$1 ')],
    ['in small letters', iban => iban.toLowerCase()],
    ['with spaces all over', iban => ` ${[...iban].join(' ')} `],
  ])('by the IBAN of a wallet, %s', async (_, spelled) => {
    const { id, iban } = await aWallet(client)
    const answer = await send({ iban: spelled(String(iban)), amountEuros: 12.34 })
    expect(answer).toMatchObject({
      status: 201,
      body: { status: 'matched', walletId: id, iban, reason: null, ownerId: owner.ownerId },
    })
    expect(await balanceOf(id)).toBe(12.34)
    expect((await traceOf(service, answer))?.events).toEqual(['incoming.received', 'wallet.credited'])
    const { data } = await bodyOf(client.events.list({ query: { event: 'wallet.credited', limit: 1 } }))
    expect(data[0]?.data).toEqual({ walletId: id, status: 'active', amountEuros: 12.34, balanceEuros: 12.34 })
  })

  test('by a reference in the text if no wallet has the IBAN', async () => {
    const { id } = await aWallet(client)
    const reference = `Top-up, ${(await referenceOfWallet(id)).toLowerCase()} please`
    expect(await bodyOf(send({ reference }))).toMatchObject({ status: 'matched', walletId: id })
    expect(await balanceOf(id)).toBe(25)
  })

  test('by the IBAN even if the reference names another wallet', async () => {
    const [byIban, byReference] = [await aWallet(client), await aWallet(client)]
    const reference = await referenceOfWallet(byReference.id)
    const credit = await bodyOf(send({ iban: String(byIban.iban), reference }))
    expect([credit.walletId, await balanceOf(byReference.id)]).toEqual([byIban.id, 0])
  })

  test('to a frozen wallet, too', async () => {
    const { id, iban } = await aWallet(client)
    await bodyOf(client.wallets.update({ params: { id }, body: { status: 'frozen' } }))
    expect(await bodyOf(send({ iban: String(iban) }))).toMatchObject({ status: 'matched', walletId: id })
  })

  test('once for each bank reference, for concurrent requests too', async () => {
    const { id, iban } = await aWallet(client)
    const sent = { iban: String(iban), amountEuros: 5, bankReference: '2026112000017' }
    const answers = await times(10, () => send(sent))
    expect(statusCounts(answers)).toEqual({ 201: 10 })
    expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1)
    expect(await balanceOf(id)).toBe(5)
    const stranger = await service.owner()
    const theirs = await aWallet(stranger.client)
    const same = await bodyOf(send({ ...sent, iban: String(theirs.iban) }, stranger.client))
    expect(same.walletId).toBe(theirs.id)
    await expectVerifiedLedger(client)
  })
})

describe('a credit goes to suspense', () => {
  test.each<[string, Sent]>([
    ['for an account of nobody', {}],
    ['for a reference of nobody', { reference: creditorReferenceFor(9_999_999_999n) }],
    ['for a reference whose check digits are wrong', { reference: 'RF00 0000 0000 01' }],
  ])('%s', async (_, members) => {
    const before = await suspense()
    expect(await bodyOf(send(members))).toMatchObject({
      status: 'unmatched',
      reason: 'no_wallet',
      walletId: null,
    })
    expect(await suspense()).toBeCloseTo(before + 25, 2)
    await expectVerifiedLedger(client)
  })

  test('if the text names two wallets', async () => {
    const wallets = [await aWallet(client), await aWallet(client)]
    const references = await Promise.all(wallets.map(({ id }) => referenceOfWallet(id)))
    expect(await bodyOf(send({ reference: references.join(' ') }))).toMatchObject({
      status: 'unmatched',
      reason: 'several_references',
    })
  })

  test('for a wallet that is closed, or is being closed', async () => {
    const shut = await aWallet(client)
    await close(shut.id)
    expect(await bodyOf(send({ iban: String(shut.iban) }))).toMatchObject({
      status: 'unmatched',
      reason: 'wallet_closed',
    })
    for (const { id, iban } of await times(10, () => aWallet(client))) {
      const [credit, closed] = await Promise.all([
        bodyOf(send({ iban: String(iban) })),
        client.wallets.close({ params: { id } }),
      ])
      expect([credit.status, closed.status]).toEqual(
        closed.status === 200 ? ['unmatched', 200] : ['matched', 400],
      )
    }
    await expectVerifiedLedger(client)
  })

  test('for another owner’s wallet, since a sandbox reaches its own wallets only', async () => {
    const stranger = await service.owner()
    const theirs = await aWallet(stranger.client)
    expect(await bodyOf(send({ iban: String(theirs.iban) }))).toMatchObject({
      status: 'unmatched',
      reason: 'no_wallet',
      ownerId: owner.ownerId,
    })
    expect((await bodyOf(stranger.client.wallets.get({ params: { id: theirs.id } }))).availableEuros).toBe(0)
  })
})

describe('an unmatched credit', () => {
  const unmatched = () => bodyOf(send({ amountEuros: 40 }))

  test('is listed for the operator until it is assigned', async () => {
    const { id } = await unmatched()
    const listed = async (query: object) =>
      (await bodyOf(service.dash.incoming.list({ query: { limit: 100, ...query } }))).data.some(
        credit => credit.id === id,
      )
    expect(await listed({ status: 'unmatched', ownerId: owner.ownerId })).toBe(true)
    expect(await listed({ mode: 'live' })).toBe(false)
    const wallet = await aWallet(client)
    await bodyOf(assign(id, wallet.id))
    expect([await listed({ status: 'unmatched' }), await listed({ walletId: wallet.id })]).toEqual([
      false,
      true,
    ])
  })

  test('is assigned to a wallet, with its events on the owner’s side', async () => {
    const { id } = await unmatched()
    const wallet = await aWallet(client, 1)
    const before = await suspense()
    const answer = await assign(id, wallet.id)
    expect(answer).toMatchObject({
      status: 200,
      body: { status: 'assigned', walletId: wallet.id, reason: 'no_wallet' },
    })
    expect([await balanceOf(wallet.id), await suspense()]).toEqual([41, before - 40])
    expect((await traceOf(service, answer))?.events).toEqual(['incoming.assigned', 'wallet.credited'])
    const { data } = await bodyOf(client.events.list({ query: { event: 'incoming.assigned', limit: 1 } }))
    expect(data[0]?.data).toMatchObject({ creditId: id, walletId: wallet.id, amountEuros: 40 })
    await expectVerifiedLedger(client)
  })

  test('is assigned once by twenty concurrent requests', async () => {
    const { id } = await unmatched()
    const wallets = await times(4, () => aWallet(client))
    const answers = await times(20, index => assign(id, String(wallets[index % 4]?.id)))
    expect(statusCounts(answers)).toEqual({ 200: 1, 400: 19 })
    const balances = await Promise.all(wallets.map(({ id }) => balanceOf(id)))
    expect(balances.toSorted()).toEqual([0, 0, 0, 40])
    expect(await assign(id, String(wallets[0]?.id))).toMatchObject({ code: 'credit_not_unmatched' })
    await expectVerifiedLedger(client)
  })

  test('cannot go to a closed wallet, another owner’s or one of the other mode', async () => {
    const { id } = await unmatched()
    const shut = await aWallet(client)
    await close(shut.id)
    const stranger = await service.owner()
    const theirs = await aWallet(stranger.client)
    const live = await aWallet(await aLiveClient(service, owner))
    expect((await assign(id, shut.id)).code).toBe('wallet_closed')
    for (const wallet of [theirs, live])
      expect(await assign(id, wallet.id)).toMatchObject({ status: 404, code: 'wallet_not_found' })
    expect((await bodyOf(service.dash.incoming.list({ query: { status: 'unmatched' } }))).data[0]?.id).toBe(
      id,
    )
  })
})

test('live mode refuses simulated credits', async () => {
  const live = await aLiveClient(service, await service.owner())
  expect(await send({}, live)).toMatchObject({ status: 400, code: 'test_mode_only' })
})
