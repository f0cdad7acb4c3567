import { expect, test } from '@jest/globals'
import { statusCounts, times } from '../../support/at-once.ts'
import { aSpender } from '../../support/cards/reveal.ts'
import { aRequest } from '../../support/commerce/requests.ts'
import { aWallet, bodyOf } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'
import { expectSoundLedgers } from '../../support/money/sound-ledgers.ts'
import { inTier } from '../../support/tier.ts'
import { until } from '../../support/until.ts'

const service = await startTestService({ own: true })

/** Payments in each direction by each way. */
const PAYMENTS = inTier(20, 200)
/** Enough for group commits of both owners to overlap. */
const AT_ONCE = 20

async function aParty() {
  const { client, ownerId } = await service.owner()
  const [agent, wallet] = [await aSpender(client), await aWallet(client, 0)]
  return { client, ownerId, agent, wallet }
}

type Party = Awaited<ReturnType<typeof aParty>>

const deadlocks = async (): Promise<number> => {
  await service.sql('select pg_stat_force_next_flush()')
  const [row] = await service.sql<{ deadlocks: number }>(
    'select deadlocks::int as deadlocks from pg_stat_database where datname = current_database()',
  )
  return Number(row?.deadlocks)
}

const availableTo = async ({ client, agent, wallet }: Party) =>
  Promise.all(
    [agent.walletId, wallet.id].map(async id => {
      const { availableEuros, heldEuros } = await bodyOf(client.wallets.get({ params: { id } }))
      return [availableEuros, heldEuros]
    }),
  )

async function anApprovedRequest(payer: Party, payee: Party) {
  const request = await aRequest(payee.client, payee.wallet.id, { amountEuros: 2 })
  const terms = { agentId: payer.agent.id, amountEuros: 2, purpose: 'Report 17', requestId: request.id }
  return { requestId: request.id, intentId: (await bodyOf(payer.client.intents.create({ body: terms }))).id }
}

async function aPaymentToken(payer: Party, payee: Party): Promise<string> {
  const terms = { agentId: payer.agent.id, amountEuros: 1, recipientWalletId: payee.wallet.id }
  return String((await bodyOf(payer.client.paymentTokens.create({ body: terms }))).token)
}

/** A transfer between wallets of one owner, by an agent with an intent: it locks the same agent and accounts. */
async function anApprovedTransfer({ client, agent, wallet }: Party) {
  const terms = { agentId: agent.id, amountEuros: 1, walletId: wallet.id, purpose: 'A share' }
  const { id: intentId } = await bodyOf(client.intents.create({ body: terms }))
  return { fromWalletId: agent.walletId, toWalletId: wallet.id, amountEuros: 1, intentId }
}

/** A request, a token and a transfer that this owner can pay, and a paid request that it can refund. */
async function prepared(one: Party, other: Party) {
  const [request, paymentToken, paid, transfer] = await Promise.all([
    anApprovedRequest(one, other),
    aPaymentToken(one, other),
    anApprovedRequest(other, one),
    anApprovedTransfer(one),
  ])
  await bodyOf(other.client.checkout.execute({ body: { intentId: paid.intentId } }))
  return { one, other, request, paymentToken, paid, transfer }
}

/** A busy service says that a request is to be repeated, and has done nothing. */
async function repeated<A extends { readonly status: number }>(request: () => Promise<A>): Promise<A> {
  return until('the service is not too busy', async () => {
    const answer = await request()
    return answer.status === 503 ? undefined : answer
  })
}

/** The three ways by which money leaves `one` for `other` in one transaction, and a transfer between its own wallets. */
const payEachWay = ({
  one,
  other,
  request,
  paymentToken,
  paid,
  transfer,
}: Awaited<ReturnType<typeof prepared>>) =>
  Promise.all([
    repeated(() => one.client.transfers.create({ body: transfer })),
    repeated(() => one.client.checkout.execute({ body: { intentId: request.intentId } })),
    repeated(() =>
      other.client.paymentTokens.charge({
        params: { id: one.agent.id },
        body: { paymentToken, amountEuros: 1 },
      }),
    ),
    repeated(() => one.client.collect.refund({ params: { id: paid.requestId }, body: {} })),
  ])

test(`between two owners, ${PAYMENTS} requests, tokens, refunds and transfers in each direction at once do not deadlock`, async () => {
  const [one, two] = [await aParty(), await aParty()]
  const before = { deadlocks: await deadlocks(), euros: await Promise.all([one, two].map(availableTo)) }
  for (let made = 0; made < PAYMENTS; made += AT_ONCE) {
    const all = await times(2 * AT_ONCE, index => (index % 2 ? prepared(one, two) : prepared(two, one)))
    const answers = (await Promise.all(all.map(payEachWay))).flat()
    expect(statusCounts(answers)).toEqual({ 200: 6 * AT_ONCE, 201: 2 * AT_ONCE })
  }
  expect(await deadlocks()).toBe(before.deadlocks)
  // Each owner has paid as much as it has received, by its agent's wallet and into its other one, as its transfers do.
  const moved = PAYMENTS * 4
  const expected = before.euros.map(([[agent = 0] = [], [wallet = 0] = []]) => [
    [agent - moved, 0],
    [wallet + moved, 0],
  ])
  expect(await Promise.all([one, two].map(availableTo))).toEqual(expected)
  await expectSoundLedgers(service)
})
