import pg from 'pg'
import { countSpend } from '../../../src/insight/spend/index.ts'
import { aPayingCard } from '../cards/network.ts'
import { disputed } from '../commerce/disputes.ts'
import { type Action, actions, aSpender as aSpenderOfLimits } from '../control/random-actions.ts'
import { bodyOf } from '../factories.ts'
import type { TestService } from '../harness.ts'

const NAMES = ['SQ *BOOKSHOP 1234 BERLIN', 'Bookshop', 'AMZN MKTP DE*1X2Y3', 'amazon', 'Café Ömür']

export async function aSpender(service: TestService) {
  const spender = await aSpenderOfLimits(service)
  const { card, agent: holder } = await aPayingCard(spender.client, 5_000)
  return { ...spender, card, holder, ownerId: card.ownerId, authorizations: [] as string[] }
}
export type Spender = Awaited<ReturnType<typeof aSpender>>

const chosen = <T>(of: readonly T[], n: number): T | undefined => of[n % (of.length || 1)]
const one = <T>(of: readonly T[], n: number): T => chosen(of, n) as T

const onCard = {
  authorize: async ({ client, card, authorizations }: Spender, n: number) => {
    const body = {
      cardId: card.id,
      amountEuros: one([20, 45.5, 3_000], n >> 2),
      country: 'DE',
      mcc: one(['5942', '5411'], n),
    }
    const answer = await client.sandbox.authorizeCard({ body: { ...body, merchant: one(NAMES, n) } })
    if (answer.body?.authorizationId) authorizations.push(String(answer.body.authorizationId))
  },
  clear: ({ client, authorizations }: Spender, n: number) =>
    authorizations.length > 0 &&
    client.sandbox.clearCard({
      body: {
        authorizationId: one(authorizations, n),
        ...(n % 3 ? { amountEuros: one([1.01, 20, 60], n) } : {}),
      },
    }),
  comeBack: ({ client, authorizations }: Spender, n: number) =>
    authorizations.length > 0 &&
    client.sandbox.refundCard({
      body: { authorizationId: one(authorizations, n), amountEuros: one([0.01, 5, 20], n) },
    }),
  reverse: ({ client, authorizations }: Spender, n: number) =>
    authorizations.length > 0 &&
    client.sandbox.reverseCard({ body: { authorizationId: one(authorizations, n), amountEuros: 20 } }),
  expire: ({ client, authorizations }: Spender, n: number) =>
    authorizations.length > 0 &&
    client.sandbox.expireCard({ body: { authorizationId: one(authorizations, n) } }),
  dispute: async ({ client, card }: Spender, n: number) => {
    const { data } = await bodyOf(client.transactions.list({ query: { cardId: card.id } }))
    const paid = chosen(
      data.filter(({ status }) => status === 'completed'),
      n,
    )
    if (paid) await client.disputes.create({ body: disputed(paid.id) })
    const open = chosen((await bodyOf(client.disputes.list())).data, n)
    const says = one(['credited', 'won', 'lost'] as const, n)
    if (open) await client.sandbox.disputeCard({ body: { disputeId: open.id, says } })
  },
  refundAlone: ({ client, card }: Spender, n: number) =>
    client.sandbox.refundCard({
      body: { authorizationId: `alone_${n % 2}`, cardId: card.id, amountEuros: 2.5, merchant: 'Bookshop' },
    }),
}

/** What a follower does: counts in large or tiny steps, or is killed before it commits. */
const followersOn = (pool: pg.Pool, databaseUrl: string) => ({
  count: () => countSpend({ pool }),
  countSlowly: () => countSpend({ pool }, { most: 3 }),
  twoAtOnce: () => Promise.all([countSpend({ pool }, { most: 7 }), countSpend({ pool }, { most: 5 })]),
  killed: async () => {
    const dying = new pg.Pool({ connectionString: databaseUrl, max: 1 })
    dying.on('connect', client => {
      const query = client.query.bind(client) as (...values: unknown[]) => unknown
      // biome-ignore lint/suspicious/noExplicitAny: the driver's method has a dozen forms
      client.query = ((...values: any[]) => {
        if (values[0] === 'commit') return Promise.reject(new Error('killed'))
        return query(...values)
      }) as typeof client.query
    })
    const end = await countSpend({ pool: dying }).catch(({ message }) => message)
    await dying.end()
    if (end !== 'killed') throw new Error('the follower was to be killed before it commits')
  },
})

const onAgents = {
  payLabelled: async ({ client, agent, payee }: Spender, n: number) => {
    const metadata = { team: one(['research', 'sales', 'x'.repeat(400)], n) }
    const members = { walletId: payee.wallet.walletId, amountEuros: one([1, 2.5], n), metadata }
    const intent = await client.intents.create({ body: { ...members, agentId: agent.id, purpose: 'P' } })
    if (intent.error) return
    const { id: intentId, amountEuros } = intent.body
    const toWalletId = payee.wallet.walletId
    await client.transfers.create({
      body: { fromWalletId: agent.walletId, toWalletId, intentId, amountEuros },
    })
  },
  nextDay: ({ client }: Spender) => client.sandbox.advance({ body: { days: 1 } }),
  nextYear: ({ client }: Spender) => client.sandbox.advance({ body: { days: 365 } }),
  delete: ({ client, holder }: Spender) => client.agents.delete({ params: holder }),
}

async function recordsOf({ client }: Spender) {
  const query = { limit: 100 }
  const [intents, transfers] = await Promise.all([
    bodyOf(client.intents.list({ query })),
    bodyOf(client.transfers.list({ query })),
  ])
  return { intents: intents.data, transfers: transfers.data }
}

const own = { ...onCard, ...onAgents }
type Follower = keyof ReturnType<typeof followersOn>
export type SpendStep = readonly [keyof typeof own | Follower | Action, number]

export const stepNames = [
  ...Object.keys({ ...own, ...actions }),
  'count',
  'countSlowly',
  'twoAtOnce',
  'killed',
] as SpendStep[0][]

/** The number chooses amount, merchant and record. */
export function stepsOn(pool: pg.Pool, databaseUrl: string) {
  const followers = followersOn(pool, databaseUrl)
  return async (spender: Spender, [name, n]: SpendStep): Promise<void> => {
    if (name in followers) await followers[name as Follower]()
    else if (name in own) await own[name as keyof typeof own](spender, n)
    else {
      const { intents, transfers } = await recordsOf(spender)
      await actions[name as Action](spender, n, chosen(intents, n), chosen(transfers, n))
    }
  }
}
