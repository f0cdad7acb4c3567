import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { divide } from '../../src/commerce/transfers/transfer.ts'
import { aLiveClient, anAgent, aToken, aWallet, made } from '../support/factories.ts'
import { startHouse } from '../support/harness.ts'
import { tally, times } from '../support/pot-house.ts'

const house = await startHouse()
const owner = await house.owner()
const { client } = owner

const balanceOf = async (id: string) => (await made(client.wallets.get({ params: { id } }))).availableEuros

const pay = (fromWalletId: string, toWalletId: string, amountEuros: number, key?: string) =>
  client.transfers.create({
    body: { fromWalletId, toWalletId, amountEuros },
    ...(key ? { idempotencyKey: key } : {}),
  })

const isProven = async () =>
  expect(await made(client.ledger.verify({}))).toMatchObject({ ok: true, problems: [] })

describe('a transfer between wallets', () => {
  test('is completed at once, told to the world, and stands in the ledger', async () => {
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
    expect(await made(client.transfers.get({ params: { id: transferId } }))).toEqual(body)
    const postings = await made(client.ledger.transfers({ query: { referenceId: transferId } }))
    expect(postings.data.map(({ kind, reference }) => [kind, reference.id])).toEqual([
      ['transfer', transferId],
    ])
    const events = await made(client.events.list({ query: { event: 'transfer.completed' } }))
    expect(events.data[0]?.data).toMatchObject({ transferId, status: 'completed', amountEuros: 12.34 })
  })

  test('is found by its wallets, its kind and its time', async () => {
    const [from, to] = [await aWallet(client, 20), await aWallet(client)]
    const first = await made(pay(from.id, to.id, 1))
    const second = await made(pay(to.id, from.id, 0.5))
    const ids = async (query: object) =>
      (await made(client.transfers.list({ query }))).data.map(({ id }) => id)
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

  test('says what is missing where there is not enough', async () => {
    const [from, to] = [await aWallet(client, 10), await aWallet(client)]
    const { status, code, error } = await pay(from.id, to.id, 10.01)
    expect([status, code]).toEqual([400, 'insufficient_funds'])
    expect(error).toBe('€ 10.01 are needed, € 10.00 are available.')
    expect(await balanceOf(from.id)).toBe(10)
  })

  test('is refused within one wallet, from a frozen one, and from or to a closed one', async () => {
    const [from, to, shut] = [await aWallet(client, 10), await aWallet(client, 10), await aWallet(client)]
    await made(client.wallets.close({ params: { id: shut.id } }))
    await made(client.wallets.update({ params: { id: to.id }, body: { status: 'frozen' } }))
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
    const stranger = await aWallet((await house.owner()).client)
    const live = await aWallet(await aLiveClient(house, owner))
    for (const { id } of [stranger, live]) {
      expect((await pay(from.id, id, 1)).status).toBe(404)
      expect((await pay(id, from.id, 1)).status).toBe(404)
    }
    const { token } = await aToken(client, (await anAgent(client)).id)
    const asAgent = house.client(String(token))
    const body = { fromWalletId: from.id, toWalletId: from.id, amountEuros: 1 }
    expect((await asAgent.transfers.create({ body })).status).toBe(403)
  })
})

describe('many at once', () => {
  test('a hundred transfers of 1 € from a wallet with 50 €: exactly fifty succeed', async () => {
    const [from, to] = [await aWallet(client, 50), await aWallet(client)]
    const answers = await times(100, () => pay(from.id, to.id, 1))
    expect(tally(answers)).toEqual({ 201: 50, 400: 50 })
    expect([await balanceOf(from.id), await balanceOf(to.id)]).toEqual([0, 50])
    await isProven()
  })

  test('there and back between two wallets, nobody waits for ever', async () => {
    const [one, two] = [await aWallet(client, 30), await aWallet(client, 30)]
    const answers = await times(120, n => (n % 2 ? pay(one.id, two.id, 0.5) : pay(two.id, one.id, 0.5)))
    expect(tally(answers)).toEqual({ 201: 120 })
    expect([await balanceOf(one.id), await balanceOf(two.id)]).toEqual([30, 30])
    await isProven()
  })

  test('the same key a hundred times is one transfer', async () => {
    const [from, to] = [await aWallet(client, 50), await aWallet(client)]
    const answers = await times(100, () => pay(from.id, to.id, 1, 'the-same'))
    const ids = new Set(answers.flatMap(({ body }) => body?.id ?? []))
    expect(ids.size).toBe(1)
    expect(await balanceOf(to.id)).toBe(1)
    expect((await pay(from.id, to.id, 1, 'the-same')).body?.id).toBe([...ids][0])
  })

  test('nothing leaves a wallet once it is answered to be frozen', async () => {
    const [from, to] = [await aWallet(client, 1_000), await aWallet(client)]
    const paying = times(60, () => pay(from.id, to.id, 1))
    await made(client.wallets.update({ params: { id: from.id }, body: { status: 'frozen' } }))
    const frozenAt = (await pay(from.id, to.id, 1)).code
    const left = tally(await paying)[201] ?? 0
    expect(frozenAt).toBe('wallet_frozen')
    expect(await balanceOf(to.id)).toBe(left)
  })
})

describe('a split', () => {
  const split = (fromWalletId: string, parts: object[], amountEuros?: number) =>
    client.transfers.split({
      body: { fromWalletId, parts: parts as { walletId: string }[], ...(amountEuros ? { amountEuros } : {}) },
    })

  test('by amounts or by shares gives to all, and loses no cent', async () => {
    const [from, ...payees] = [
      await aWallet(client, 100),
      await aWallet(client),
      await aWallet(client),
      await aWallet(client),
    ]
    const [a, b, c] = payees.map(({ id }) => id)
    const byAmount = await made(
      split(from.id, [
        { walletId: a, amountEuros: 1 },
        { walletId: b, amountEuros: 2 },
      ]),
    )
    expect(byAmount).toMatchObject({ kind: 'split', status: 'completed', amountEuros: 3, toWalletId: null })
    const thirds = await made(
      split(
        from.id,
        [a, b, c].map(walletId => ({ walletId, share: 1 })),
        10,
      ),
    )
    expect(thirds.parts?.map(({ amountEuros }) => amountEuros)).toEqual([3.34, 3.33, 3.33])
    expect(await Promise.all([from.id, a, b, c].map(id => balanceOf(String(id))))).toEqual([
      87, 4.34, 5.33, 3.33,
    ])
    const { data } = await made(client.ledger.transfers({ query: { referenceId: thirds.id } }))
    const posting = await made(client.ledger.transfer({ params: { id: String(data[0]?.id) } }))
    expect(posting.entries).toHaveLength(4)
    const events = await made(client.events.list({ query: { event: 'transfer.split.completed' } }))
    expect(events.data[0]?.data).toMatchObject({ transferId: thirds.id, amountEuros: 10 })
  })

  test('pays a thousand wallets in one go', async () => {
    const from = await aWallet(client, 1_000)
    const payees: { id: string }[] = []
    while (payees.length < 1_000) payees.push(...(await times(50, () => aWallet(client))))
    const done = await made(
      split(
        from.id,
        payees.map(({ id }) => ({ walletId: id, amountEuros: 0.01 })),
      ),
    )
    expect(done.amountEuros).toBe(10)
    expect(await balanceOf(from.id)).toBe(990)
    await isProven()
  })

  test('is all or nothing', async () => {
    const [from, a, shut] = [await aWallet(client, 5), await aWallet(client), await aWallet(client)]
    await made(client.wallets.close({ params: { id: shut.id } }))
    const parts = (id: string) => [
      { walletId: a.id, amountEuros: 3 },
      { walletId: id, amountEuros: 3 },
    ]
    const codes = []
    for (const id of [a.id, shut.id, from.id, 'wallet_nobody'])
      codes.push((await split(from.id, parts(id))).code)
    expect(codes).toEqual(['insufficient_funds', 'wallet_closed', 'same_wallet', 'wallet_not_found'])
    expect(
      (
        await split(
          from.id,
          [
            { walletId: a.id, share: 1 },
            { walletId: a.id, share: 900 },
          ],
          0.01,
        )
      ).code,
    ).toBe('part_of_nothing')
    expect([await balanceOf(from.id), await balanceOf(a.id)]).toEqual([5, 0])
  })

  test.each([
    ['no parts', [], 1, 'parts'],
    ['an amount and shares missing', [{ walletId: 'wallet_a' }], 1, 'parts.0.share'],
    ['shares of nothing', [{ walletId: 'wallet_a', share: 1 }], undefined, 'parts.0.amountEuros'],
    ['both', [{ walletId: 'wallet_a', share: 1, amountEuros: 1 }], 1, 'parts.0.amountEuros'],
    ['a share of five decimals', [{ walletId: 'wallet_a', share: 0.00001 }], 1, 'parts.0.share'],
  ])('with %s is a 400 that names the field', async (_, parts, amount, field) => {
    const { status, error } = await split('wallet_x', parts, amount)
    expect([status, error]).toEqual([400, expect.stringContaining(field)])
  })

  test('divides without loss, and never by more than a cent from what is just', () => {
    fc.assert(
      fc.property(
        fc.bigInt({ min: 1n, max: 10_000_000_000n }),
        fc.array(fc.integer({ min: 1, max: 1_000_000 }), { minLength: 1, maxLength: 50 }),
        (amount, weights) => {
          const parts = divide(
            amount,
            weights.map(weight => weight / 10_000),
          )
          const total = BigInt(weights.reduce((sum, weight) => sum + weight, 0))
          expect(parts.reduce((sum, part) => sum + part, 0n)).toBe(amount)
          parts.forEach((part, index) => {
            const off = part * total - amount * BigInt(weights[index] ?? 0)
            expect(off < total && off > -total).toBe(true)
          })
        },
      ),
    )
  })
})
