import './transfers/asked-of-several.ts'
import './transfers/between-owners.ts'
import './transfers/console-payments.ts'
import { describe, expect, test } from '@jest/globals'
import { statusCounts, times } from '../support/at-once.ts'
import { aLiveClient, anAgent, aToken, aWallet, bodyOf } from '../support/factories.ts'
import { startTestService } from '../support/harness.ts'
import { expectVerifiedLedger } from '../support/verified-ledger.ts'

const service = await startTestService({ own: true })
const owner = await service.owner()
const { client } = owner
const balanceOf = async (id: string) => (await bodyOf(client.wallets.get({ params: { id } }))).availableEuros

const pay = (fromWalletId: string, toWalletId: string, amountEuros: number, key?: string) =>
  client.transfers.create({
    body: { fromWalletId, toWalletId, amountEuros },
    ...(key ? { idempotencyKey: key } : {}),
  })

const proveLedger = () => expectVerifiedLedger(client)

describe('a transfer between wallets', () => {
  test('is completed at once, emits an event and is in the ledger', async () => {
    const [from, to] = [await aWallet(client, 20), await aWallet(client)]
    const { status, body } = await client.transfers.create({
      body: { fromWalletId: from.id, toWalletId: to.id, amountEuros: 12.34, reference: 'Budget' },
    })
    expect(status).toBe(201)
    expect(body).toMatchObject({
      kind: 'internal',
      status: 'completed',
      amountEuros: 12.34,
      reference: 'Budget',
    })
    expect([await balanceOf(from.id), await balanceOf(to.id)]).toEqual([7.66, 12.34])
    const transferId = String(body?.id)
    expect(await bodyOf(client.transfers.get({ params: { id: transferId } }))).toEqual(body)
    const postings = await bodyOf(client.ledger.transfers({ query: { referenceId: transferId } }))
    expect(postings.data.map(({ kind, reference }) => [kind, reference.id])).toEqual([
      ['transfer', transferId],
    ])
    const events = await bodyOf(client.events.list({ query: { event: 'transfer.completed' } }))
    expect(events.data[0]?.data).toMatchObject({ transferId, status: 'completed', amountEuros: 12.34 })
  })

  test('is found by its wallets, its kind and its time', async () => {
    const [from, to] = [await aWallet(client, 20), await aWallet(client)]
    const first = await bodyOf(pay(from.id, to.id, 1))
    const second = await bodyOf(pay(to.id, from.id, 0.5))
    const ids = async (query: object) =>
      (await bodyOf(client.transfers.list({ query }))).data.map(({ id }) => id)
    expect(await ids({ fromWalletId: from.id })).toEqual([first.id])
    expect(await ids({ toWalletId: from.id, kind: 'internal', status: 'completed' })).toEqual([second.id])
    expect(await ids({ fromWalletId: from.id, to: first.createdAt })).toEqual([])
    expect(await ids({ fromWalletId: from.id, from: first.createdAt })).toEqual([first.id])
  })

  test.each([
    ['zero', 0, 'amountEuros'],
    ['a negative amount', -1, 'amountEuros'],
    ['three decimals', 0.001, 'amountEuros'],
    ['more than a hundred million', 100_000_000.01, 'amountEuros'],
  ])('of %s is a 400 that names the field', async (_, amount, field) => {
    const [from, to] = [await aWallet(client, 20), await aWallet(client)]
    const { status, error } = await pay(from.id, to.id, amount)
    expect([status, error]).toEqual([400, expect.stringContaining(field)])
    expect(await balanceOf(from.id)).toBe(20)
  })

  test('reports the missing amount', async () => {
    const [from, to] = [await aWallet(client, 10), await aWallet(client)]
    const { status, code, error } = await pay(from.id, to.id, 10.01)
    expect([status, code]).toEqual([400, 'insufficient_funds'])
    expect(error).toBe('€ 10.01 is needed, but only € 10.00 is available.')
    expect(await balanceOf(from.id)).toBe(10)
  })

  test('is refused within one wallet, from a frozen one, and from or to a closed one', async () => {
    const [from, to, shut] = [await aWallet(client, 10), await aWallet(client, 10), await aWallet(client)]
    await bodyOf(client.wallets.close({ params: { id: shut.id } }))
    await bodyOf(client.wallets.update({ params: { id: to.id }, body: { status: 'frozen' } }))
    const codes = [
      [from.id, from.id],
      [to.id, from.id],
      [from.id, shut.id],
      [shut.id, from.id],
    ].map(async ([payer, payee]) => (await pay(String(payer), String(payee), 1)).code)
    expect(await Promise.all(codes)).toEqual([
      'same_wallet',
      'wallet_frozen',
      'wallet_closed',
      'wallet_closed',
    ])
    expect((await pay(from.id, to.id, 1)).status).toBe(201)
  })

  test('reaches no wallet of another owner or the other mode, and is not for agents', async () => {
    const from = await aWallet(client, 10)
    const stranger = await aWallet((await service.owner()).client)
    const live = await aWallet(await aLiveClient(service, owner))
    for (const { id } of [stranger, live]) {
      expect((await pay(from.id, id, 1)).status).toBe(404)
      expect((await pay(id, from.id, 1)).status).toBe(404)
    }
    const { token } = await aToken(client, (await anAgent(client)).id)
    const asAgent = service.client(String(token))
    const body = { fromWalletId: from.id, toWalletId: from.id, amountEuros: 1 }
    expect((await asAgent.transfers.create({ body })).status).toBe(403)
  })
})

describe('concurrent transfers', () => {
  test('of 1 €, a hundred of them from a wallet with 50 €, succeed fifty times', async () => {
    const [from, to] = [await aWallet(client, 50), await aWallet(client)]
    const answers = await times(100, () => pay(from.id, to.id, 1))
    expect(statusCounts(answers)).toEqual({ 201: 50, 400: 50 })
    expect([await balanceOf(from.id), await balanceOf(to.id)]).toEqual([0, 50])
    await proveLedger()
  })

  test('in both directions between two wallets do not deadlock', async () => {
    const [one, two] = [await aWallet(client, 30), await aWallet(client, 30)]
    const answers = await times(120, n => (n % 2 ? pay(one.id, two.id, 0.5) : pay(two.id, one.id, 0.5)))
    expect(statusCounts(answers)).toEqual({ 201: 120 })
    expect([await balanceOf(one.id), await balanceOf(two.id)]).toEqual([30, 30])
    await proveLedger()
  })

  test('with one idempotency key are one transfer', async () => {
    const [from, to] = [await aWallet(client, 50), await aWallet(client)]
    const answers = await times(100, () => pay(from.id, to.id, 1, 'the-same'))
    const ids = new Set(answers.flatMap(({ body }) => body?.id ?? []))
    expect(ids.size).toBe(1)
    expect(await balanceOf(to.id)).toBe(1)
    expect((await pay(from.id, to.id, 1, 'the-same')).body?.id).toBe([...ids][0])
  })

  test('take nothing from a wallet once its freezing is answered', async () => {
    const [from, to] = [await aWallet(client, 1_000), await aWallet(client)]
    const paying = times(60, () => pay(from.id, to.id, 1))
    await bodyOf(client.wallets.update({ params: { id: from.id }, body: { status: 'frozen' } }))
    const frozenAt = (await pay(from.id, to.id, 1)).code
    const succeeded = statusCounts(await paying)[201] ?? 0
    expect(frozenAt).toBe('wallet_frozen')
    expect(await balanceOf(to.id)).toBe(succeeded)
  })
})
