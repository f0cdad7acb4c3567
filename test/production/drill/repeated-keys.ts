import { isDeepStrictEqual } from 'node:util'
import { aCard } from '../../support/cards/cards.ts'
import type { TestClient } from '../../support/client.ts'
import { anAgentUnder, anIntent, aWallet } from '../../support/factories.ts'

interface Answer {
  readonly status: number
  readonly body: unknown
  readonly headers: Headers
}

/** A request under an `Idempotency-Key`, as it was repeated before the upgrade. */
interface Asked {
  readonly key: string
  readonly ask: () => Promise<Answer>
  readonly answer: Answer
}

const OF_EACH = 4

/** Asks for something of each kind under keys of its own, and once more: a repetition shows no secret. */
export async function askUnderKeys(client: TestClient, url: string): Promise<readonly Asked[]> {
  const policy = { name: 'Repeated', maxTransactionEuros: 100, autoApproveLimitEuros: 100 }
  const { id: agentId } = await anAgentUnder(client, policy)
  const [card, from, to] = [
    await aCard(client, { agentId }),
    await aWallet(client, 100),
    await aWallet(client),
  ]
  const shop = `${url}/simulate/mpp/paid?amountEuros=1`
  const merchant = new URL(url).hostname
  const kinds: Readonly<Record<string, (idempotencyKey: string) => Promise<() => Promise<Answer>>>> = {
    agent: async idempotencyKey => () => client.agents.create({ body: { name: 'A' }, idempotencyKey }),
    policy: async idempotencyKey => () => client.policies.create({ body: policy, idempotencyKey }),
    wallet: async idempotencyKey => () => client.wallets.create({ body: { name: 'W' }, idempotencyKey }),
    beneficiary: async idempotencyKey => () =>
      client.beneficiaries.create({
        body: { name: 'Bo Li', iban: 'DE89370400440532013000' },
        idempotencyKey,
      }),
    intent: async idempotencyKey => () =>
      client.intents.create({
        body: { agentId, amountEuros: 1, merchant: 'Bookshop', purpose: 'P' },
        idempotencyKey,
      }),
    run: async idempotencyKey => () => client.runs.create({ body: { agentId, name: 'R' }, idempotencyKey }),
    transfer: async idempotencyKey => () =>
      client.transfers.create({
        body: { fromWalletId: from.id, toWalletId: to.id, amountEuros: 1 },
        idempotencyKey,
      }),
    token: async idempotencyKey => () =>
      client.agentTokens.create({ params: { id: agentId }, body: { label: 'T' }, idempotencyKey }),
    key: async idempotencyKey => () =>
      client.keys.create({ body: { name: 'K', environment: 'sandbox' }, idempotencyKey }),
    funding: async idempotencyKey => () =>
      client.fund.wallet({ params: { id: to.id }, body: { amountEuros: 1 }, idempotencyKey }),
    webhook: async idempotencyKey => () =>
      client.webhooks.create({ body: { url: `${url}/hooks`, events: ['agent.frozen'] }, idempotencyKey }),
    request: async idempotencyKey => () =>
      client.collect.create({
        body: { walletId: to.id, amountEuros: 5, description: 'D', expiresInHours: 24 },
        idempotencyKey,
      }),
    card: async idempotencyKey => () =>
      client.cards.create({ body: { agentId, usage: 'multi', displayName: 'C' }, idempotencyKey }),
    refusal: async idempotencyKey => () =>
      client.transfers.create({
        body: { fromWalletId: from.id, toWalletId: to.id, amountEuros: 99_999 },
        idempotencyKey,
      }),
    purchase: async idempotencyKey => {
      const { id: intentId } = await anIntent(client, agentId, { merchant, amountEuros: 2 })
      return () => client.mpp.pay({ body: { url: shop, intentId, cardId: card.id }, idempotencyKey })
    },
  }
  const asked: Asked[] = []
  for (const [kind, prepare] of Object.entries(kinds))
    for (let n = 0; n < OF_EACH; n++) {
      const key = `${kind}-${n}`
      const ask = await prepare(key)
      await ask()
      asked.push({ key, ask, answer: await ask() })
    }
  return asked
}

/** Repeats all of them, and returns those that are answered otherwise. What was bought is emptied by the upgrade. */
export async function answeredOtherwise(asked: readonly Asked[]): Promise<readonly string[]> {
  const others: string[] = []
  for (const { key, ask, answer: before } of asked) {
    const { status, body, headers } = await ask()
    const isRepeated = headers.get('idempotent-replayed') === 'true'
    const expected = key.startsWith('purchase')
      ? withoutBought(before.body as object, body as object)
      : before.body
    const isSame = status === before.status && isRepeated && isDeepStrictEqual(body, expected)
    if (!isSame) others.push(`${key}: ${before.status}, then ${status} ${JSON.stringify(body)}`)
  }
  return others
}

const withoutBought = (before: object, after: object): object => ({
  ...before,
  merchant_body: {},
  note: 'note' in after ? after.note : 'missing',
})
