import { networkBefore } from '../../support/cards/network.ts'
import { clientAt } from '../../support/client.ts'
import { anAgentUnder, anIntent, aWallet, bodyOf, type TestClient } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'

export const service = await startTestService({ own: true })
const elsewhere = await service.another()
export const network = networkBefore(service)

export async function anOwner() {
  const owner = await service.owner()
  const second = clientAt({ url: elsewhere, token: owner.key })
  return { ...owner, any: (n: number): TestClient => (n % 2 === 0 ? owner.client : second) }
}

export async function aPaidTransfer(amountEuros = 7, intent: object = {}) {
  const owner = await anOwner()
  const { client } = owner
  const agent = await anAgentUnder(client, { autoApproveLimitEuros: 2_000 })
  const payee = await aWallet(client, 0, { name: 'Bookshop' })
  const members = typeof intent === 'function' ? await intent(client, agent.id) : intent
  const { id: intentId } = await anIntent(client, agent.id, { amountEuros, walletId: payee.id, ...members })
  const body = { fromWalletId: agent.walletId, toWalletId: payee.id, amountEuros, intentId }
  const { transactionId } = await bodyOf(client.transfers.create({ body }))
  return { ...owner, agent, payee, transactionId: String(transactionId) }
}

export const ask = (
  client: TestClient,
  transactionId: string,
  amountEuros?: number,
  headers: Record<string, string> = {},
) =>
  client.refunds.create({
    body: { transactionId, reason: 'requested', ...(amountEuros === undefined ? {} : { amountEuros }) },
    headers,
  })

export const refundsOf = async (client: TestClient, transactionId?: string) => {
  const query = transactionId ? { transactionId, limit: 100 } : { limit: 100 }
  return (await bodyOf(client.refunds.list({ query }))).data.reverse()
}

export const transactionOf = (client: TestClient, id: string) =>
  bodyOf(client.transactions.get({ params: { id } }))

export const balanceOf = async (client: TestClient, id: string): Promise<number> =>
  (await bodyOf(client.wallets.get({ params: { id } }))).availableEuros

export const countedOf = (subjects: readonly string[]) =>
  service.sql<{ reserved: number; spent: number; uses: number }>(
    `select reserved_cents::int as reserved, spent_cents::int as spent, uses from counters
     where subject = any($1) and period = 'all' order by array_position($1, subject)`,
    [subjects],
  )

export const told = (ownerId: string, event: string) =>
  service.sql<{ data: Record<string, unknown> }>(
    'select data from events where owner_id = $1 and event = $2 order by id',
    [ownerId, event],
  )
