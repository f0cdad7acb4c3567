import { describe, expect, test } from '@jest/globals'
import { newId } from '../../../src/values/ids.ts'
import { aCard, getCard } from '../../support/cards/cards.ts'
import { aPayingCard, networkBefore } from '../../support/cards/network.ts'
import { aFundedAgent, aWallet, bodyOf, type TestClient } from '../../support/factories.ts'
import { eventsOf, pass, service } from './cards-service.ts'

const fund = (client: TestClient, id: string, body: { amountEuros: number; fromWalletId?: string }) =>
  client.cards.fund({ params: { id }, body })

const availableOf = async (client: TestClient, id: string): Promise<number> =>
  (await bodyOf(client.wallets.get({ params: { id } }))).availableEuros

const aFundedCard = async (client: TestClient, euros = 100) => {
  const agent = await aFundedAgent(client, {}, euros)
  return { agent, card: await aCard(client, { agentId: agent.id }) }
}

const network = networkBefore(service)

describe('the purse of a card', () => {
  test('is opened with its first money, from the agent’s wallet or another one that is named', async () => {
    const { client } = await service.owner()
    const { agent, card } = await aFundedCard(client)
    const first = await bodyOf(fund(client, card.id, { amountEuros: 30 }))
    expect(first.balance).toEqual({ availableEuros: 30, heldEuros: 0 })
    const savings = await aWallet(client, 50)
    const second = await bodyOf(fund(client, card.id, { amountEuros: 20, fromWalletId: savings.id }))
    expect(second).toMatchObject({ walletId: first.walletId, balance: { availableEuros: 50, heldEuros: 0 } })
    expect(await getCard(client, card.id)).toEqual(second)
    expect(await availableOf(client, agent.walletId)).toBe(70)
    expect(await availableOf(client, savings.id)).toBe(30)
    const purse = await bodyOf(client.wallets.get({ params: { id: String(first.walletId) } }))
    expect(purse).toMatchObject({
      kind: 'card',
      cardId: card.id,
      iban: null,
      agentId: null,
      status: 'active',
    })
    expect(await eventsOf(card.id)).toEqual([
      'card.created',
      'card.issued',
      'card.activated',
      'card.funded',
      'card.funded',
    ])
    expect((await bodyOf(client.ledger.verify())).ok).toBe(true)
  })

  test('is one, however many fill it first at the same time, and takes no more than there is', async () => {
    const { client } = await service.owner()
    const { card } = await aFundedCard(client, 50)
    const answered = await Promise.all(
      Array.from({ length: 8 }, () => fund(client, card.id, { amountEuros: 10 })),
    )
    expect(answered.map(({ status }) => status).sort()).toEqual([
      ...Array(5).fill(200),
      ...Array(3).fill(400),
    ])
    expect((await getCard(client, card.id)).balance?.availableEuros).toBe(50)
    const wallets = await service.sql('select 1 from wallets where card_id = $1', [card.id])
    expect(wallets).toHaveLength(1)
  })

  test('is not opened for money that is refused', async () => {
    const { client } = await service.owner()
    const { card } = await aFundedCard(client, 10)
    expect((await fund(client, card.id, { amountEuros: 10.01 })).code).toBe('insufficient_funds')
    const unknown = newId('wallet')
    expect((await fund(client, card.id, { amountEuros: 1, fromWalletId: unknown })).code).toBe(
      'wallet_not_found',
    )
    expect((await getCard(client, card.id)).walletId).toBeNull()
    expect(await service.sql('select 1 from wallets where card_id = $1', [card.id])).toEqual([])
  })

  test('cannot be funded from a purse or from a frozen wallet', async () => {
    const { client } = await service.owner()
    const { agent, card } = await aFundedCard(client)
    const { walletId } = await bodyOf(fund(client, card.id, { amountEuros: 10 }))
    const other = await aCard(client, { agentId: agent.id })
    const fromWalletId = String(walletId)
    expect((await fund(client, card.id, { amountEuros: 1, fromWalletId })).code).toBe('same_wallet')
    expect((await fund(client, other.id, { amountEuros: 1, fromWalletId })).code).toBe('wallet_of_card')
    await bodyOf(client.wallets.update({ params: { id: agent.walletId }, body: { status: 'frozen' } }))
    expect((await fund(client, other.id, { amountEuros: 1 })).code).toBe('wallet_not_active')
  })

  test('the balance of a purse returns to the agent’s wallet when the card closes', async () => {
    const { client } = await service.owner()
    const { agent, card } = await aFundedCard(client)
    await bodyOf(fund(client, card.id, { amountEuros: 30 }))
    await bodyOf(client.cards.close({ params: { id: card.id }, body: {} }))
    await pass(client, { minutes: 1 })
    expect(await availableOf(client, agent.walletId)).toBe(100)
    expect((await getCard(client, card.id)).balance).toEqual({ availableEuros: 0, heldEuros: 0 })
    expect((await bodyOf(client.ledger.verify())).ok).toBe(true)
  })

  test('money held when the card closed, and later refunds, return to the agent’s wallet', async () => {
    const { client } = await service.owner()
    const { agent, card } = await aPayingCard(client, 100)
    await bodyOf(fund(client, card.id, { amountEuros: 30 }))
    const reversed = await network.authorize(card.id, 12)
    const cleared = await network.authorize(card.id, 8)
    expect([reversed.reply.kind, cleared.reply.kind]).toEqual(['approved', 'approved'])
    await bodyOf(client.cards.close({ params: { id: card.id }, body: {} }))
    await pass(client, { minutes: 1 })
    expect(await availableOf(client, agent.walletId)).toBe(80)
    expect((await getCard(client, card.id)).balance).toEqual({ availableEuros: 0, heldEuros: 20 })
    await network.reverse(card.id, reversed.authorizationId)
    await network.clear(card.id, cleared.authorizationId, 8)
    await pass(client, { seconds: 1 })
    expect(await availableOf(client, agent.walletId)).toBe(92)
    await pass(client, { days: 3 })
    await network.refund(card.id, cleared.authorizationId, 8)
    await pass(client, { seconds: 1 })
    expect(await availableOf(client, agent.walletId)).toBe(100)
    expect((await bodyOf(client.ledger.verify())).ok).toBe(true)
  })

  test('a purse is checked daily for holds that were released without an event', async () => {
    const { client } = await service.owner()
    const { agent, card } = await aFundedCard(client)
    const { walletId } = await bodyOf(fund(client, card.id, { amountEuros: 30 }))
    const release = await hold(String(walletId), 12_00)
    await bodyOf(client.cards.close({ params: { id: card.id }, body: {} }))
    await pass(client, { minutes: 1 })
    expect(await availableOf(client, agent.walletId)).toBe(88)
    await release()
    await pass(client, { days: 2 })
    expect(await availableOf(client, agent.walletId)).toBe(100)
  })
})

const POST = `
select ledger_post(owner_id, mode, now(),
  jsonb_build_array(jsonb_build_object('id', $3::text, 'currency', 'EUR', 'kind', $4::text,
    'referenceType', 'trial', 'referenceId', $2::text)),
  jsonb_build_array(jsonb_build_object('transferId', $3::text, 'accountId', id, 'amount', 0, 'holdId', $2::text,
    'hold', $5::int)))
from ledger_accounts where wallet_id = $1`

/** Holds money of a wallet, as an authorization does; returns the function that releases it. */
async function hold(walletId: string, cents: number): Promise<() => Promise<unknown>> {
  const holdId = newId('hold')
  const post = (kind: string, change: number) =>
    service.sql(POST, [walletId, holdId, newId('posting'), kind, change])
  await post('hold', cents)
  return () => post('release', -cents)
}
