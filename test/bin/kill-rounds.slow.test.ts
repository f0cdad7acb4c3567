import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import type { CallAnswer } from '../../src/derive/client.ts'
import { tokenScopes } from '../../src/kernel/contract/scopes.ts'
import { serializeChallenge } from '../../src/mpp/index.ts'
import { newId } from '../../src/values/ids.ts'
import { shop } from '../support/cards/simulated.ts'
import { challengeOf, present } from '../support/commerce/machine-payer.ts'
import { type Conduct, demand, sell, startMerchant } from '../support/commerce/merchant.ts'
import { aBeneficiary, anAgentUnder, aToken, aWallet, bodyOf, type TestClient } from '../support/factories.ts'
import { type KillableApi, killableApi } from '../support/processes/killable-api.ts'
import { until } from '../support/until.ts'
import { expectVerifiedLedger } from '../support/verified-ledger.ts'

/** `KILL_ROUNDS=200` for the long form. */
const ROUNDS = Number(process.env.KILL_ROUNDS || 4)
/** `KILL_CHANNELS=shared,confirmed,collected` for machine payments by the method `stripe` only. */
const CHANNELS = process.env.KILL_CHANNELS?.split(',')
const PATIENCE_MS = 120_000 + ROUNDS * 15_000
const PAYERS = 4
const FUNDED_CENTS = 1_000_000

const merchant = await startMerchant()
let api!: KillableApi
beforeAll(async () => {
  api = await killableApi({ OUTBOUND_ALLOW_CIDRS: '127.0.0.1' })
})
afterAll(() => api.stop())

/** Kills may end a request again and again on a busy machine, so that only the end of the rounds lets it through. */
const eventually: typeof until = (what, condition) => until(what, condition, PATIENCE_MS)

/** A payer's answers while its earlier request is in progress or the database is unreachable. */
const UNDECIDED = ['in_progress', 'busy', 'outcome_unknown', 'unavailable']

type Request<T> = (client: TestClient, idempotencyKey: string) => Promise<CallAnswer<T>>

/** Sends a request under one key until it is decided, however often the process is killed meanwhile. */
async function decided<T>(token: string, request: Request<T>): Promise<CallAnswer<T>> {
  const key = newId('key')
  for (;;) {
    const answer = await request(api.client(token), key).catch(() => undefined)
    if (answer && !UNDECIDED.includes(String(answer.code))) return answer
    await sleep(25)
  }
}

const done = <T>(token: string, request: Request<T>): Promise<T> => bodyOf(decided(token, request))

interface Payer {
  readonly agent: string
  readonly owner: string
  readonly agentId: string
  readonly walletId: string
  readonly cardId: string
  readonly purseId: string
  readonly beneficiaryId: string
}

async function aPayer(): Promise<Payer> {
  const owner = await api.owner()
  const client = api.client(owner)
  const agent = await anAgentUnder(client, { autoApproveLimitEuros: 1_000 })
  const card = await bodyOf(
    client.cards.create({ body: { agentId: agent.id, usage: 'multi', displayName: 'Research' } }),
  )
  const { token } = await aToken(client, agent.id, { scopes: [...tokenScopes.given, 'transfers:create'] })
  return {
    ...{ agent: String(token), owner, agentId: agent.id, walletId: agent.walletId, cardId: card.id },
    purseId: (await aWallet(client)).id,
    beneficiaryId: (await aBeneficiary(client)).id,
  }
}

async function intentFor({ agent }: Payer, amountEuros: number, members: object): Promise<string> {
  const body = { amountEuros, purpose: 'A report', ...members }
  const intent = await done(agent, (client, idempotencyKey) =>
    client.intents.create({ body, idempotencyKey }),
  )
  expect(intent.status).toBe('approved')
  return intent.id
}

/** Sends a message of the card network until it is accepted: a repetition is the same message. */
function sent<T>(
  { owner }: Payer,
  send: (client: TestClient, message: { messageId: string; sentAt: string }) => Promise<CallAnswer<T>>,
): Promise<T> {
  const message = { messageId: newId('message'), sentAt: new Date().toISOString() }
  return eventually('the message is taken', async () => {
    const { status, body } = await decided(owner, client => send(client, message))
    return status === 200 ? body : undefined
  })
}

/** Pays € 5 by card; undefined if the answer was too late for the network. */
async function paidByCard(payer: Payer): Promise<string | undefined> {
  const { cardId } = payer
  const authorizationId = newId('authorization')
  const { reply } = await sent(payer, (client, message) =>
    client.sandbox.authorizeCard({ body: { ...shop, ...message, authorizationId, cardId, amountEuros: 5 } }),
  )
  if (reply !== 'approved') return undefined
  await sent(payer, (client, message) =>
    client.sandbox.clearCard({
      body: { ...message, authorizationId, clearingId: message.messageId, amountEuros: 5 },
    }),
  )
  return authorizationId
}

const advance = ({ owner }: Payer) =>
  decided(owner, (client, idempotencyKey) => client.sandbox.advance({ body: { minutes: 1 }, idempotencyKey }))

/** Each completes a payment by one channel, and returns the cents that left the agent's wallet for good. */
const channels: Readonly<Record<string, (payer: Payer, holder: Payer) => Promise<number>>> = {
  async card(payer) {
    const authorizationId = await paidByCard(payer)
    if (!authorizationId) return 0
    await sent(payer, (client, message) =>
      client.sandbox.refundCard({
        body: { ...message, authorizationId, refundId: message.messageId, amountEuros: 2 },
      }),
    )
    return 300
  },

  async dispute(payer) {
    const { owner, cardId } = payer
    if (!(await paidByCard(payer))) return 0
    const { data } = await done(owner, client =>
      client.transactions.list({ query: { cardId, type: 'card', limit: 100 } }),
    )
    const body = {
      transactionId: String(data[0]?.id),
      reason: 'not_received',
      description: 'Not delivered.',
    } as const
    const { id: disputeId } = await done(owner, (client, idempotencyKey) =>
      client.disputes.create({ body, idempotencyKey }),
    )
    const says = data.length % 4 < 2 ? 'won' : 'lost'
    await sent(payer, (client, message) =>
      client.sandbox.disputeCard({ body: { ...message, disputeId, says } }),
    )
    return says === 'won' ? 0 : 500
  },

  async wallet(payer) {
    const { agent, walletId, purseId } = payer
    const intentId = await intentFor(payer, 3, { walletId: purseId })
    const body = { fromWalletId: walletId, toWalletId: purseId, amountEuros: 3, intentId }
    const transfer = await done(agent, (client, idempotencyKey) =>
      client.transfers.create({ body, idempotencyKey }),
    )
    expect(transfer.status).toBe('completed')
    return 300
  },

  async sepa(payer) {
    const { agent, owner, walletId, beneficiaryId } = payer
    const intentId = await intentFor(payer, 4, { beneficiaryId })
    const body = { fromWalletId: walletId, beneficiaryId, amountEuros: 4, intentId }
    const { id } = await done(agent, (client, idempotencyKey) =>
      client.transfers.create({ body, idempotencyKey }),
    )
    for (;;) {
      await advance(payer)
      const { status } = await done(owner, client => client.transfers.get({ params: { id } }))
      if (status === 'completed') return 400
    }
  },

  machine: payer => paidMachine(payer, demand(), sell()),

  shared: payer => paidMachine(payer, demandsToken, sell(undefined, { method: 'stripe' })),

  /** A person confirms the token after two minutes, and the agent repeats its request meanwhile. */
  async confirmed(payer) {
    const { owner, agentId } = payer
    const body = { agentId, usage: 'multi', displayName: 'Sandbox asks' } as const
    const { id } = await done(owner, (client, idempotencyKey) =>
      client.cards.create({ body, idempotencyKey }),
    )
    const spent = await paidMachine(payer, demandsToken, sell(undefined, { method: 'stripe' }), id)
    await done(owner, (client, idempotencyKey) => client.cards.close({ params: { id }, idempotencyKey }))
    return spent
  },

  collected,

  async request(payer, holder) {
    const { id: requestId } = await done(holder.owner, (client, idempotencyKey) =>
      client.collect.create({
        body: { walletId: holder.purseId, amountEuros: 25, description: 'Report 17', expiresInHours: 24 },
        idempotencyKey,
      }),
    )
    const intentId = await intentFor(payer, 25, { requestId })
    await done(payer.agent, (client, idempotencyKey) =>
      client.checkout.execute({ body: { intentId }, idempotencyKey }),
    )
    await done(holder.owner, (client, idempotencyKey) =>
      client.collect.refund({ params: { id: requestId }, body: { amountEuros: 10 }, idempotencyKey }),
    )
    return 1_500
  },
}

const used = Object.entries(channels).filter(([channel]) => CHANNELS?.includes(channel) ?? true)

/** By the method `stripe`: a shared payment token is created once the payment has begun. */
const demandsToken = demand({
  details: { networkId: 'profile_test_sandbox', paymentMethodTypes: ['card'] },
  parameters: { method: 'stripe' },
})

/** Another amount than that of the merchant, who never charges: the network's report names no shared token. */
const COLLECTED_EUROS = 18

/** The address of a request of the holder, which a program of the payer pays by a shared payment token. */
async function collected(payer: Payer, holder: Payer): Promise<number> {
  const { id: requestId } = await done(holder.owner, (client, idempotencyKey) =>
    client.collect.create({
      body: {
        walletId: holder.purseId,
        amountEuros: COLLECTED_EUROS,
        description: 'Report 18',
        expiresInHours: 24,
      },
      idempotencyKey,
    }),
  )
  const url = `${api.url()}/collect/402/${requestId}`
  const intentId = await intentFor(payer, COLLECTED_EUROS, { merchant: '127.0.0.1' })
  const offer = { headers: { 'accept-payment': 'stripe/charge' } }
  const challenge = serializeChallenge(
    await eventually('a challenge', () => challengeOf(url, offer).catch(() => undefined)),
  )
  const body = { intentId, challenge, url, cardId: payer.cardId }
  const minted = await decided(payer.agent, (client, idempotencyKey) =>
    client.mpp.mint({ body, idempotencyKey }),
  )
  const credential = minted.body?.credential
  if (credential) await eventually('the outcome', () => isPresented(holder, url, credential))
  const { status } = await done(holder.owner, client => client.collect.get({ params: { id: requestId } }))
  if (status === 'paid') return COLLECTED_EUROS * 100
  await endUnpaid(payer, intentId)
  return 0
}

/** Presents the same credential until the outcome is known: it pays once. */
async function isPresented(holder: Payer, url: string, credential: string): Promise<boolean> {
  const answer = await present(url, credential).catch(() => undefined)
  if (answer?.status === 200 || answer?.status === 402) return true
  if (answer?.status === 409) await advance(holder)
  return false
}

/** A credential that its caller lost, or that was declined, pays nothing. One whose token was being created ends in time. */
async function endUnpaid(payer: Payer, intentId: string): Promise<void> {
  const { agent, owner } = payer
  const params = { id: intentId }
  for (;;) {
    const { data } = await done(owner, client => client.mpp.list({ query: { intentId } }))
    expect(data.map(({ status }) => status)).not.toContain('consumed')
    for (const { id, status } of data)
      if (status === 'minted')
        await decided(owner, (client, idempotencyKey) =>
          client.mpp.resolve({ params: { id }, body: { outcome: 'not_paid' }, idempotencyKey }),
        )
    const { status } = await decided(agent, (client, idempotencyKey) =>
      client.intents.cancel({ params, idempotencyKey }),
    )
    if (status === 200) return
    await advance(payer)
  }
}

/** What is answered before a payment is sent that a person must confirm. */
const WAITING = ['action_required', 'intent_being_paid']

async function paidMachine(
  payer: Payer,
  asks: Conduct,
  gives: Conduct,
  cardId = payer.cardId,
): Promise<number> {
  const path = `/${newId('order')}`
  const url = merchant.sells(path, asks, gives)
  const intentId = await intentFor(payer, 20, { merchant: '127.0.0.1' })
  const ask = () =>
    decided(payer.agent, (client, idempotencyKey) =>
      client.mpp.pay({ body: { url, intentId, cardId }, idempotencyKey }),
    )
  let paid = await ask()
  while (cardId !== payer.cardId && WAITING.includes(String(paid.code))) {
    expect(merchant.payments(path)).toEqual([])
    await advance(payer)
    paid = await ask()
  }
  const payments = merchant.payments(path).length
  expect(payments).toBeLessThanOrEqual(1)
  if (paid.status === 200) return 2_000
  await resolve(payer, intentId, payments === 1)
  if (payments === 0)
    await done(payer.agent, (client, idempotencyKey) =>
      client.intents.cancel({ params: { id: intentId }, idempotencyKey }),
    )
  return payments * 2_000
}

/** Resolves a machine payment with an unknown outcome by the merchant's records. */
async function resolve({ owner }: Payer, intentId: string, isPaid: boolean): Promise<void> {
  const { data } = await done(owner, client => client.mpp.list({ query: { intentId } }))
  expect(data).toMatchObject([{ status: 'indeterminate' }])
  const params = { id: String(data[0]?.id) }
  const body = { outcome: isPaid ? 'paid' : 'not_paid' } as const
  await done(owner, (client, idempotencyKey) => client.mpp.resolve({ params, body, idempotencyKey }))
}

/** Payers that use every channel in turn until stopped; `stop` returns what each has spent. */
function paying(payers: readonly Payer[]) {
  let isStopped = false
  const count = new Map<string, number>()
  async function lane(payer: Payer, index: number): Promise<number> {
    const holder = payers[(index + 1) % payers.length] ?? payer
    let spent = 0
    while (!isStopped)
      for (const [channel, pay] of used) {
        spent += await pay(payer, holder)
        count.set(channel, (count.get(channel) ?? 0) + 1)
      }
    return spent
  }
  const ended = Promise.all(payers.map(lane))
  return {
    count,
    stop: () => {
      isStopped = true
      return ended
    },
  }
}

/** The lease of a request ended by a kill expires after two minutes. */
const lapseLeases = () =>
  api.sql(`update idempotency_keys set created_at = created_at - interval '3 minutes' where status is null`)

const TWICE = `
select intent_id from transactions where intent_id is not null and status <> 'declined'
group by intent_id having count(*) > 1`

const RECEIVED_TWICE = `
select request_id from mpp_settlements where status = 'paid' group by request_id having count(*) > 1`

/** Tokens of machine payments that nothing owns: still usable, although their payment has ended unpaid. */
const UNOWNED = `
select c.id from agent_credentials c join mpp_credentials m on m.agent_credential_id = c.id
where m.status = 'void' and c.status in ('pending', 'active')`

test(
  'every channel pays once, and every ledger is in balance, however often the process is killed',
  async () => {
    const payers = await Promise.all(Array.from({ length: PAYERS }, aPayer))
    const lanes = paying(payers)
    for (let round = 0; round < ROUNDS; round++) {
      await sleep(100 + ((round * 137) % 700))
      await api.kill(lapseLeases)
      for (const { owner } of payers) await expectVerifiedLedger(api.client(owner))
    }
    const spent = await lanes.stop()
    expect([...lanes.count.keys()].sort()).toEqual(used.map(([channel]) => channel).sort())
    for (const [index, { owner, agentId }] of payers.entries()) {
      await expectVerifiedLedger(api.client(owner))
      const { availableEuros, heldEuros } = await bodyOf(
        api.client(owner).agents.balance({ params: { id: agentId } }),
      )
      expect([Math.round(availableEuros * 100), heldEuros]).toEqual([FUNDED_CENTS - (spent[index] ?? 0), 0])
    }
    expect(await api.sql(TWICE)).toEqual([])
    expect(await api.sql(RECEIVED_TWICE)).toEqual([])
    expect(await api.sql(UNOWNED)).toEqual([])
  },
  PATIENCE_MS,
)
