import './wallets/purses.ts'
import { describe, expect, test } from '@jest/globals'
import { newVirtualIban } from '../../src/money/wallets/lifecycle.ts'
import { times } from '../support/at-once.ts'
import { aLiveClient, aWallet, bodyOf } from '../support/factories.ts'
import { startTestService } from '../support/harness.ts'
import { expectVerifiedLedger } from '../support/verified-ledger.ts'

const service = await startTestService()
const owner = await service.owner()
const { client } = owner

/** The check of ISO 13616: first four characters last, letters as numbers, remainder 1 of a division by 97. */
const isValid = (iban: string): boolean =>
  BigInt((iban.slice(4) + iban.slice(0, 4)).replace(/[A-Z]/g, letter => String(letter.charCodeAt(0) - 55))) %
    97n ===
  1n

const change = (id: string, body: { name?: string; status?: 'active' | 'frozen' }) =>
  client.wallets.update({ params: { id }, body })
const close = (id: string) => client.wallets.close({ params: { id } })
const fund = (id: string, amountEuros: number) =>
  client.fund.wallet({ params: { id }, body: { amountEuros } })

describe('a wallet', () => {
  test('starts empty, with a valid IBAN of its own', async () => {
    const wallets = await times(20, () => aWallet(client))
    for (const { iban, bic, kind, status, availableEuros, heldEuros } of wallets) {
      expect(iban).toMatch(/^DE\d{2}99990001\d{10}$/)
      expect(isValid(String(iban))).toBe(true)
      expect([bic, kind, status, availableEuros, heldEuros]).toEqual(['AGPYDEF0XXX', 'owner', 'active', 0, 0])
    }
    expect(new Set(wallets.map(({ iban }) => iban)).size).toBe(20)
  })

  test.each([1n, 97n, 98n, 9_999_999_999n])('number %d gives an IBAN with valid check digits', number => {
    const { iban } = newVirtualIban('test', { code: '99990001', bic: 'AGPYDEF0XXX' }, number)
    expect([iban?.length, isValid(String(iban))]).toEqual([22, true])
  })

  test('of live mode has no IBAN, and cannot be funded without a payment method', async () => {
    const live = await aLiveClient(service, owner)
    const { id, iban, bic } = await aWallet(live)
    expect([iban, bic]).toEqual([null, null])
    const { status, code } = await live.fund.wallet({ params: { id }, body: { amountEuros: 1 } })
    expect([status, code]).toEqual([503, 'live_rail_missing'])
  })

  test('is found by its filters, and under /accounts', async () => {
    const parent = await aWallet(client)
    const child = await aWallet(client, 0, { parentWalletId: parent.id, metadata: { team: 'research' } })
    const idsOf = async (query: object) =>
      (await bodyOf(client.wallets.list({ query }))).data.map(({ id }) => id)
    expect(await idsOf({ parentWalletId: parent.id })).toEqual([child.id])
    expect(await idsOf({ iban: child.iban })).toEqual([child.id])
    expect(await idsOf({ iban: child.iban, kind: 'agent' })).toEqual([])
    const { body } = await service.http('GET', `/v1/accounts/${child.id}`, { token: owner.key })
    expect(body).toEqual(await bodyOf(client.wallets.get({ params: { id: child.id } })))
  })

  test('is funded in test mode with 0.01 to 100,000 €', async () => {
    const { id } = await aWallet(client)
    expect(await bodyOf(fund(id, 0.01))).toMatchObject({ availableEuros: 0.01 })
    expect(await bodyOf(fund(id, 100_000))).toMatchObject({ availableEuros: 100_000.01 })
    const { status, error } = await fund(id, 100_000.01)
    expect([status, error]).toEqual([400, expect.stringContaining('amountEuros')])
    const { data } = await bodyOf(client.events.list({ query: { event: 'wallet.funded' } }))
    expect(data[0]?.data).toEqual({
      walletId: id,
      status: 'active',
      amountEuros: 100_000,
      balanceEuros: 100_000.01,
    })
  })
})

describe('a wallet that changes', () => {
  test('keeps everything but its name when renamed', async () => {
    const wallet = await aWallet(client, 5)
    const { updatedAt: _, ...rest } = await bodyOf(change(wallet.id, { name: 'Travel' }))
    expect(rest).toEqual({ ...wallet, name: 'Travel', updatedAt: undefined })
  })

  test('can be funded while frozen, and unfrozen', async () => {
    const { id } = await aWallet(client)
    expect(await bodyOf(change(id, { status: 'frozen' }))).toMatchObject({ status: 'frozen' })
    expect(await bodyOf(fund(id, 1))).toMatchObject({ availableEuros: 1 })
    expect(await bodyOf(change(id, { status: 'active' }))).toMatchObject({ status: 'active' })
  })

  test('is not closed with money or with open children', async () => {
    const [full, parent] = [await aWallet(client, 1), await aWallet(client)]
    const child = await aWallet(client, 0, { parentWalletId: parent.id })
    expect([(await close(full.id)).code, (await close(parent.id)).code]).toEqual([
      'wallet_not_empty',
      'wallet_has_children',
    ])
    await bodyOf(close(child.id))
    expect(await bodyOf(close(parent.id))).toMatchObject({ status: 'closed' })
  })

  test('is not listed, funded, changed or used as a parent once closed', async () => {
    const { id } = await aWallet(client)
    await bodyOf(close(id))
    const listed = async (query: object) =>
      (await bodyOf(client.wallets.list({ query: { limit: 100, ...query } }))).data.some(
        wallet => wallet.id === id,
      )
    expect([await listed({}), await listed({ status: 'closed' })]).toEqual([false, true])
    const refusals = [fund(id, 1), change(id, { name: 'New' }), close(id)]
    expect((await Promise.all(refusals)).map(({ code }) => code)).toEqual(Array(3).fill('wallet_closed'))
    const { status, code } = await client.wallets.create({ body: { name: 'Below', parentWalletId: id } })
    expect([status, code]).toEqual([400, 'parent_not_usable'])
    const { data } = await bodyOf(client.ledger.accounts({ query: { walletId: id } }))
    expect(data[0]?.closedAt).not.toBeNull()
  })

  test('is closed or gets a child by two concurrent requests, never both', async () => {
    for (const { id } of await times(20, () => aWallet(client))) {
      const child = { name: 'Below', parentWalletId: id }
      const [closed, made] = await Promise.all([close(id), client.wallets.create({ body: child })])
      expect([closed.code ?? made.code]).toEqual([
        closed.status === 200 ? 'parent_not_usable' : 'wallet_has_children',
      ])
    }
  })

  test('lets nothing out once it is frozen, in the middle of a burst', async () => {
    const [{ id: fromWalletId }, { id: toWalletId }] = [await aWallet(client, 100), await aWallet(client)]
    const pay = () => client.transfers.create({ body: { fromWalletId, toWalletId, amountEuros: 1 } })
    const burst = times(30, pay)
    const frozen = await bodyOf(change(fromWalletId, { status: 'frozen' }))
    expect((await pay()).code).toBe('wallet_frozen')
    for (const { status, code } of await burst)
      expect([status, code]).toEqual(status === 201 ? [201, undefined] : [400, 'wallet_frozen'])
    expect(await bodyOf(client.wallets.get({ params: { id: fromWalletId } }))).toMatchObject({
      availableEuros: frozen.availableEuros,
    })
    await expectVerifiedLedger(client)
  })

  test('is either funded or closed by two concurrent requests', async () => {
    const wallets = await times(20, () => aWallet(client))
    for (const { id } of wallets) {
      const [funded, closed] = await Promise.all([fund(id, 1), close(id)])
      expect([funded.status, closed.status].toSorted()).toEqual([200, 400])
    }
    await expectVerifiedLedger(client)
  })
})
