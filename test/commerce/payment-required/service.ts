import { aWallet, bodyOf, type TestClient } from '../../support/factories.ts'
import type { TestService } from '../../support/harness.ts'

export async function aPayee(service: TestService) {
  const owner = await service.owner()
  const { client } = owner
  const wallet = await aWallet(client)
  const create = (members: Partial<Parameters<TestClient['collect']['create']>[0]['body']> = {}) =>
    bodyOf(
      client.collect.create({
        body: {
          walletId: wallet.id,
          amountEuros: 12.5,
          description: 'Report 17 — “now” ☕',
          expiresInHours: 72,
          unlocks: { url: 'https://example.com/reports/17' },
          ...members,
        },
      }),
    )
  const get = (id: string) => bodyOf(client.collect.get({ params: { id } }))
  const balance = async () => (await bodyOf(client.wallets.get({ params: { id: wallet.id } }))).availableEuros
  const settlements = async (requestId: string) =>
    (await bodyOf(client.settlements.list({ query: { requestId } }))).data
  const urlOf = (id: string) => `${service.url}/collect/402/${id}`
  return { service, owner, client, wallet, create, get, balance, settlements, urlOf }
}

export type PayeeOwner = Awaited<ReturnType<typeof aPayee>>
