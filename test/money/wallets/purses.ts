import { beforeAll, describe, expect, test } from '@jest/globals'
import type { CallAnswer } from '../../../src/derive/client.ts'
import { creditorReferenceFor } from '../../../src/money/references/register.ts'
import { cents } from '../../../src/values/money.ts'
import { aPurse } from '../../support/cards/purses.ts'
import { aBeneficiary, anAgent, aWallet, bodyOf } from '../../support/factories.ts'
import { startBooks } from '../../support/money/books.ts'

const books = await startBooks()
const { service } = books
const owner = await service.owner()
const { client, ownerId } = owner

describe('the purse of a card', () => {
  let purse: Awaited<ReturnType<typeof aPurse>>
  let walletId: string
  beforeAll(async () => {
    purse = await aPurse(client)
    walletId = purse.walletId
  })

  /** The answer must be a refusal that says what the wallet is, and name this member of the request. */
  async function expectRefused(answer: Promise<CallAnswer<unknown>>, member?: string) {
    const { status, code, error } = await answer
    expect([status, code]).toEqual([400, 'wallet_of_card'])
    expect(error).toContain('purse of a card')
    if (member) expect(error).toMatch(new RegExp(`^${member}: `))
  }

  test('is shown with its card and without an IBAN, and found by its filters', async () => {
    expect(await bodyOf(client.wallets.get({ params: { id: walletId } }))).toMatchObject({
      kind: 'card',
      cardId: purse.cardId,
      agentId: null,
      iban: null,
      bic: null,
    })
    const idsOf = async (query: object) =>
      (await bodyOf(client.wallets.list({ query }))).data.map(({ id }) => id)
    expect(await idsOf({ kind: 'card' })).toEqual([walletId])
    expect(await idsOf({ cardId: purse.cardId })).toEqual([walletId])
    expect(await idsOf({ kind: 'owner', cardId: purse.cardId })).toEqual([])
  })

  test('cannot pay or receive transfers', async () => {
    const { id } = await aWallet(client, 10)
    const { id: beneficiaryId } = await aBeneficiary(client)
    const pay = (body: { fromWalletId: string; toWalletId?: string; beneficiaryId?: string }) =>
      client.transfers.create({ body: { ...body, amountEuros: 1 } })
    await expectRefused(pay({ fromWalletId: walletId, toWalletId: id }), 'fromWalletId')
    await expectRefused(pay({ fromWalletId: walletId, beneficiaryId }), 'fromWalletId')
    await expectRefused(pay({ fromWalletId: id, toWalletId: walletId }), 'toWalletId')
    const split = (fromWalletId: string, ...ids: string[]) =>
      client.transfers.split({
        body: { fromWalletId, parts: ids.map(each => ({ walletId: each, amountEuros: 1 })) },
      })
    const { id: other } = await aWallet(client)
    await expectRefused(split(walletId, other), 'fromWalletId')
    await expectRefused(split(id, other, walletId), 'parts.1.walletId')
    expect((await bodyOf(client.wallets.get({ params: { id } }))).availableEuros).toBe(10)
  })

  test('is not the payee of an intent', async () => {
    const { id: agentId } = await anAgent(client)
    const body = { agentId, amountEuros: 1, walletId }
    await expectRefused(client.intents.create({ body: { ...body, purpose: 'Refill' } }), 'walletId')
    await expectRefused(client.intents.simulate({ body }), 'walletId')
  })

  test('is not filled by payment methods, by SEPA or from the card processor', async () => {
    await expectRefused(client.fund.create({ body: { walletId, amountEuros: 1 } }))
    await expectRefused(client.fund.wallet({ params: { id: walletId }, body: { amountEuros: 1 } }))
    await expectRefused(client.billing.sepaDetails({ query: { walletId } }), 'walletId')
    await expectRefused(
      client.billing.withdrawFromProcessor({ body: { toWalletId: walletId, amountEuros: 1 } }),
      'toWalletId',
    )
  })

  test('cannot fund an agent or the card processor', async () => {
    const { id } = await anAgent(client)
    const amount = { fromWalletId: walletId, amountEuros: 1 }
    await expectRefused(client.agents.fund({ params: { id }, body: amount }), 'fromWalletId')
    await expectRefused(client.billing.fundProcessor({ body: amount }), 'fromWalletId')
  })

  test('a purse gets no credit by assignment, from the owner’s or the platform’s suspense', async () => {
    const platforms = { iban: 'NL91ABNA0417164300', amountEuros: 2, senderName: 'Ada' }
    const shut = await aWallet(client)
    await bodyOf(client.wallets.close({ params: { id: shut.id } }))
    const owners = { ...platforms, iban: String(shut.iban) }
    for (const sent of [platforms, owners]) {
      const { id } = await bodyOf(client.incoming.simulate({ body: sent }))
      await expectRefused(
        service.dash.incoming.assign({ params: { id: String(id) }, body: { walletId } }),
        'walletId',
      )
    }
  })

  test('gets nothing that names its reference number', async () => {
    const [row] = await service.sql<{ number: string }>(
      'select reference_number as number from wallets where id = $1',
      [walletId],
    )
    const reference = creditorReferenceFor(BigInt(String(row?.number)))
    const credit = await bodyOf(
      client.incoming.simulate({
        body: { iban: 'NL91ABNA0417164300', reference, amountEuros: 2, senderName: 'Ada' },
      }),
    )
    expect(credit).toMatchObject({ status: 'unmatched', reason: 'no_wallet', walletId: null })
  })

  test('can be renamed, but not frozen, closed or made a parent', async () => {
    const params = { id: walletId }
    expect(await bodyOf(client.wallets.update({ params, body: { name: 'Papers' } }))).toMatchObject({
      name: 'Papers',
    })
    await expectRefused(client.wallets.update({ params, body: { status: 'frozen' } }), 'status')
    await expectRefused(client.wallets.close({ params }))
    const below = await client.wallets.create({ body: { name: 'Below', parentWalletId: walletId } })
    expect([below.status, below.code]).toEqual([400, 'parent_not_usable'])
    expect(await bodyOf(client.wallets.get({ params }))).toMatchObject({ status: 'active' })
  })

  test('keeps its agent while money is held on it', async () => {
    const held = await aPurse(client)
    const tenant = { ownerId, mode: 'test' } as const
    const payment = { type: 'trial', id: held.cardId }
    await books.inBook({ wallets: [held.walletId] }, book => book.hold(held.walletId, cents(400n), payment), {
      tenant,
    })
    const remove = () => client.agents.delete({ params: { id: held.agentId } })
    expect(await remove()).toMatchObject({ status: 400, code: 'money_held' })
    await books.inBook({ wallets: [held.walletId], holds: [payment] }, book => void book.release(payment), {
      tenant,
    })
    expect(await bodyOf(remove())).toMatchObject({ status: 'deleting' })
  })

  test('is never the wallet of a request that names none', async () => {
    const bare = await service.owner()
    await aPurse(bare.client)
    expect((await bare.client.billing.sepaDetails()).code).toBe('wallet_not_found')
    expect((await bare.client.billing.fundProcessor({ body: { amountEuros: 1 } })).code).toBe(
      'wallet_not_found',
    )
    const { id } = await anAgent(bare.client)
    expect((await bare.client.agents.fund({ params: { id }, body: { amountEuros: 1 } })).code).toBe(
      'no_wallet',
    )
  })

  test('has statements as every wallet', async () => {
    const statement = await bodyOf(client.statements.create({ body: { walletId } }))
    expect(statement).toMatchObject({ walletId, iban: null, closingEuros: 10 })
    const { status } = await service.http('GET', `/v1/statements/${statement.id}/pdf`, { token: owner.key })
    expect(status).toBe(200)
    expect(ownerId).toBe(statement.ownerId)
  })
})
