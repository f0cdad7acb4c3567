import { expect } from '@jest/globals'
import pg from 'pg'
import { countSpend } from '../../../src/insight/spend/index.ts'
import { aPayingCard } from '../cards/network.ts'
import { aFundedAgent, anIntent, aPolicy, aWallet, bodyOf, type TestClient } from '../factories.ts'
import type { TestService } from '../harness.ts'

type NewIntent = Parameters<typeof anIntent>[2]

const rules = { autoApproveLimitEuros: 10_000 }

/** An owner with two agents that pay without approval: one from its wallet, one by card. */
export async function aPayingOwner(service: TestService, known?: Awaited<ReturnType<TestService['owner']>>) {
  const owner = known ?? (await service.owner())
  const { client } = owner
  await bodyOf(client.risk.configure({ body: { enabled: false } }))
  const policy = await aPolicy(client, rules)
  const agent = await aFundedAgent(client, { name: 'Buyer', policyId: policy.id }, 50_000)
  const { agent: holder, card } = await aPayingCard(client, 20_000)
  const shopId = (await aWallet(client, 0, { name: 'Bookshop' })).id
  return { ...owner, agent, holder, card, shopId }
}

export type PayingOwner = Awaited<ReturnType<typeof aPayingOwner>>

export async function pay(
  { client, agent, shopId }: Pick<PayingOwner, 'client' | 'agent' | 'shopId'>,
  amountEuros: number,
  members: NewIntent = {},
) {
  const intent = await anIntent(client, agent.id, { walletId: shopId, amountEuros, ...members })
  const body = {
    fromWalletId: agent.walletId,
    toWalletId: String(intent.walletId),
    intentId: intent.id,
    amountEuros,
  }
  const { transactionId } = await bodyOf(client.transfers.create({ body }))
  return { intent, transactionId: String(transactionId) }
}

export async function payByCard({ client, card }: PayingOwner, amountEuros: number, merchant = 'Bookshop') {
  const body = { cardId: card.id, amountEuros, merchant, mcc: '5942', country: 'DE' }
  const { authorizationId } = await bodyOf(client.sandbox.authorizeCard({ body }))
  await bodyOf(client.sandbox.clearCard({ body: { authorizationId: String(authorizationId) } }))
  return String(authorizationId)
}

export const comeBack = ({ client }: PayingOwner, authorizationId: string, amountEuros: number) =>
  bodyOf(client.sandbox.refundCard({ body: { authorizationId, amountEuros } }))

export const later = (client: TestClient, days: number) => bodyOf(client.sandbox.advance({ body: { days } }))

export const todayOf = async (client: TestClient): Promise<string> =>
  (await bodyOf(client.sandbox.clock())).now.slice(0, 10)

/** Adds everything to the sums, as if the follower had run. */
export async function countAll({ databaseUrl }: Pick<TestService, 'databaseUrl'>): Promise<void> {
  const pool = new pg.Pool({ connectionString: databaseUrl, max: 1 })
  await countSpend({ pool })
  await pool.end()
}

/** The answer, which must not change when everything is in the sums. */
export async function steady<T>(
  service: Pick<TestService, 'databaseUrl'>,
  ask: () => Promise<T>,
): Promise<T> {
  const first = await ask()
  await countAll(service)
  expect(await ask()).toEqual(first)
  return first
}
