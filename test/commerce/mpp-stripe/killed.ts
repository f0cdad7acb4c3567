import { describe, expect } from '@jest/globals'
import { serializeCredential, stripePayload } from '../../../src/mpp/index.ts'
import { clock } from '../../../src/values/clock.ts'
import { EVENTS_SECRET, eventOf, SECRET_KEY, secondsOf, signed } from '../../support/cards/stripe.ts'
import { startStripeDouble } from '../../support/cards/stripe-double.ts'
import { clientAt } from '../../support/client.ts'
import { challengeOf, offeredIn, present } from '../../support/commerce/machine-payer.ts'
import { refundsOf } from '../../support/commerce/refunds.ts'
import { aRequest, balanceOf, eventsAbout, getRequest } from '../../support/commerce/requests.ts'
import { aKey, aLiveClient, aWallet, bodyOf } from '../../support/factories.ts'
import { ENCRYPTION_KEY, startTestService } from '../../support/harness.ts'
import { killAt } from '../../support/processes/kill-at.ts'
import { startApi } from '../../support/processes/processes.ts'
import { IN_GERMANY } from '../../support/services/settings.ts'
import { testKills } from '../../support/tier.ts'
import { until } from '../../support/until.ts'
import { expectVerifiedLedger } from '../../support/verified-ledger.ts'

const stripe = await startStripeDouble()
const env = {
  ...IN_GERMANY,
  STRIPE_SECRET_KEY: SECRET_KEY,
  STRIPE_PROFILE_ID: stripe.seller.profile,
  STRIPE_WEBHOOK_SECRET_EVENTS: EVENTS_SECRET,
  STRIPE_API_URL: stripe.url,
}
/** Its sweep asks for what is overdue, as that of every installation does. */
const service = await startTestService({ env, temporal: true })

const INTENTS = /^POST payment_intents$/
const REFUNDS = /^POST refunds$/
const DISPUTES = /^GET disputes$/

const addressOf = (url: string, requestId: string) => `${url}/collect/402/${requestId}`

/** A shared payment token of € 20 that an agent of another vendor has granted to the seller. */
function aToken(): string {
  const id = `spt_${stripe.tokens.size + 1}`
  stripe.tokens.set(id, {
    ...{ id, deactivated_reason: null, seller_details: { network_business_profile: stripe.seller.profile } },
    usage_limits: { currency: 'eur', max_amount: 2_000, expires_at: secondsOf(clock.real()) + 3_600 },
  })
  return id
}

/** Answers a fresh challenge of this address. */
async function credentialAt(url: string, token: string): Promise<string> {
  const challenge = await challengeOf(url, { headers: { 'accept-payment': 'stripe/charge' } })
  return serializeCredential({ challenge, payload: stripePayload(token, offeredIn(challenge)) })
}

/** An owner with a live payment request of € 20, a token for it, and what another payer could present. */
async function aPayee() {
  const owner = await service.owner()
  const client = await aLiveClient(service, owner)
  const key = String((await aKey(client, { environment: 'live' })).key)
  const { id: walletId } = await aWallet(client)
  const { id } = await aRequest(client, walletId, { amountEuros: 20 })
  const url = addressOf(service.url, id)
  const another = await credentialAt(url, aToken())
  return { ownerId: owner.ownerId, client, key, walletId, id, url, token: aToken(), another }
}

type Payee = Awaited<ReturnType<typeof aPayee>>

const settlementsOf = async ({ client, id }: Payee) =>
  (await bodyOf(client.settlements.list({ query: { requestId: id } }))).data

const statusOf = async (payee: Payee) => (await settlementsOf(payee))[0]?.status

const moneyOf = ({ client, walletId }: Payee) => balanceOf(client, walletId)

const requestOf = ({ client, id }: Payee) => getRequest(client, id)

const chargesOf = ({ ownerId }: Payee) =>
  [...stripe.intents.values()].filter(({ metadata }) => (metadata as { owner?: string }).owner === ownerId)

const eventsOf = async ({ client, id }: Payee, name: string) =>
  (await eventsAbout(client, id)).filter(({ event }) => event === name)

let events = 0

/** Stripe sends an event about the payment. */
async function tell(payee: Payee, type: string, url = service.url): Promise<number> {
  const [intent] = chargesOf(payee)
  const object = type.startsWith('payment_intent.') ? intent : { payment_intent: intent?.id }
  const body = eventOf(type, object).replace('evt_1', `evt_received_${++events}`)
  const headers = signed(body, EVENTS_SECRET, clock.real())
  return (await fetch(`${url}/rails/card-processor`, { method: 'POST', headers, body })).status
}

type Work = (url: string) => Promise<unknown>
type Kill = (work: Work) => Promise<void>

/** Kills a process when it is about to write this. */
const writing =
  (when: string): Kill =>
  work =>
    killAt(service, when, work, env)

/** Kills a process that asks Stripe: before Stripe acts (`break`), or when it has acted and not answered. */
const asking =
  (route: RegExp, when: 'break' | 'afterwards'): Kill =>
  async work => {
    const api = await startApi(service.databaseUrl, { ENCRYPTION_KEY, ...env })
    stripe[when](route, () => api.kill('SIGKILL'))
    const answer = work(api.url).then(
      () => 'answered',
      () => 'lost',
    )
    expect(await answer).toBe('lost')
    await api.exit
    stripe.heal()
  }

type Recovery = (payee: Payee) => Promise<unknown>

/** As if the time had come to ask Stripe. */
const polled: Recovery = ({ ownerId }) =>
  Promise.all([
    service.sql('update mpp_settlements set due_at = now() where owner_id = $1 and due_at is not null', [
      ownerId,
    ]),
    service.sql('update refunds set ask_due_at = now() where owner_id = $1 and ask_due_at is not null', [
      ownerId,
    ]),
  ])

/** Stripe forgets the keys of requests after a day. */
const polledLate: Recovery = payee => {
  stripe.forgetKeys()
  return polled(payee)
}

const told =
  (type: string): Recovery =>
  async payee =>
    expect(await tell(payee, type)).toBe(200)

/** Presents a credential to a process that is killed meanwhile. */
async function killedCharge({ id, token }: Payee, killIt: Kill): Promise<string> {
  let credential = ''
  await killIt(async url => {
    const address = addressOf(url, id)
    credential = await credentialAt(address, token)
    return present(address, credential)
  })
  return credential
}

/** Charged and booked once, and neither this credential nor another one charges again. */
async function expectPaidOnce(payee: Payee, credential: string): Promise<void> {
  const { client, id, url, another } = payee
  const same = await present(url, credential)
  expect(same).toMatchObject({ status: 200, body: { requestId: id }, receipt: { method: 'stripe' } })
  expect(await present(url, another)).toMatchObject({ status: 409, challenges: [] })
  expect(await settlementsOf(payee)).toMatchObject([{ status: 'paid', network: 'stripe', amountEuros: 20 }])
  expect(chargesOf(payee)).toMatchObject([{ status: 'succeeded', amount_received: 2_000 }])
  expect(await requestOf(payee)).toMatchObject({ status: 'paid', paidEuros: 20, surplusEuros: 0 })
  expect(await moneyOf(payee)).toEqual([20, 0])
  expect(await eventsOf(payee, 'paid')).toHaveLength(1)
  await expectVerifiedLedger(client)
}

async function isNotStored(): Promise<void> {
  const payee = await aPayee()
  await killedCharge(payee, writing('before insert on mpp_settlements for each row'))
  expect(await settlementsOf(payee)).toEqual([])
  expect(chargesOf(payee)).toEqual([])
  expect(await requestOf(payee)).toMatchObject({ status: 'open', paidEuros: 0 })
  const credential = await credentialAt(payee.url, payee.token)
  expect(await present(payee.url, credential)).toMatchObject({ status: 200 })
  await expectPaidOnce(payee, credential)
}

async function isCharged(killIt: Kill, recover: Recovery): Promise<void> {
  const payee = await aPayee()
  const { url, token, another } = payee
  const credential = await killedCharge(payee, killIt)
  expect(await statusOf(payee)).toBe('charging')
  expect(await moneyOf(payee)).toEqual([0, 0])
  const withSameToken = await credentialAt(url, token)
  for (const again of [credential, withSameToken, another])
    expect(await present(url, again)).toMatchObject({ status: 409, challenges: [] })
  await recover(payee)
  await until('the charge is recorded', async () => (await statusOf(payee)) === 'paid')
  expect(await present(url, withSameToken)).toMatchObject({ status: 409 })
  await expectPaidOnce(payee, credential)
}

async function isDeclined(): Promise<void> {
  const payee = await aPayee()
  const { url, token, another } = payee
  const credential = await killedCharge(payee, asking(INTENTS, 'break'))
  stripe.tokens.set(token, { ...stripe.tokens.get(token), deactivated_reason: 'revoked' })
  await polled(payee)
  await until('the charge is declined', async () => (await statusOf(payee)) === 'declined')
  expect(chargesOf(payee)).toEqual([])
  expect(await requestOf(payee)).toMatchObject({ status: 'open', paidEuros: 0 })
  expect(await moneyOf(payee)).toEqual([0, 0])
  expect(await present(url, credential)).toMatchObject({ status: 402 })
  expect(await present(url, another)).toMatchObject({ status: 200 })
  expect(chargesOf(payee)).toHaveLength(1)
  expect(await moneyOf(payee)).toEqual([20, 0])
  await expectVerifiedLedger(payee.client)
}

async function isNotAnswered(): Promise<void> {
  const payee = await aPayee()
  const credential = await killedCharge(payee, async work => {
    const api = await startApi(service.databaseUrl, { ENCRYPTION_KEY, ...env })
    const answer = work(api.url).catch(() => undefined)
    await until('it is recorded', async () => (await statusOf(payee)) === 'paid')
    api.kill('SIGKILL')
    await Promise.all([api.exit, answer])
  })
  await expectPaidOnce(payee, credential)
}

async function aPaidPayee(): Promise<Payee> {
  const payee = await aPayee()
  const paid = await present(payee.url, await credentialAt(payee.url, payee.token))
  expect(paid).toMatchObject({ status: 200 })
  return payee
}

const giveBack = ({ key, id }: Payee, url: string) =>
  clientAt({ url, token: key }).collect.refund({ params: { id }, body: {}, idempotencyKey: 'give-it-back' })

const refundsAtStripe = (payee: Payee) =>
  [...stripe.refunds.values()].filter(({ payment_intent }) => payment_intent === chargesOf(payee)[0]?.id)

async function expectGivenBackOnce(payee: Payee): Promise<void> {
  const { client, id } = payee
  expect(await giveBack(payee, service.url)).toMatchObject({ status: 200 })
  expect(await client.collect.refund({ params: { id }, body: {} })).toMatchObject({
    code: 'nothing_to_refund',
  })
  expect(refundsAtStripe(payee)).toMatchObject([{ amount: 2_000, status: 'succeeded' }])
  expect(await refundsOf(client, id)).toMatchObject([{ status: 'completed', amountEuros: 20 }])
  expect(await requestOf(payee)).toMatchObject({ status: 'refunded', refundedEuros: 20, refundingEuros: 0 })
  expect(await moneyOf(payee)).toEqual([0, 0])
  expect(await eventsOf(payee, 'refunded')).toHaveLength(1)
  await expectVerifiedLedger(client)
}

async function isNotRefunded(): Promise<void> {
  const payee = await aPaidPayee()
  await writing('before insert on refunds for each row')(url => giveBack(payee, url))
  expect(refundsAtStripe(payee)).toEqual([])
  expect(await moneyOf(payee)).toEqual([20, 0])
  await expectGivenBackOnce(payee)
}

async function isRefunded(killIt: Kill, recover: Recovery): Promise<void> {
  const payee = await aPaidPayee()
  await killIt(url => giveBack(payee, url))
  expect(await refundsOf(payee.client, payee.id)).toMatchObject([{ status: 'pending' }])
  expect(await requestOf(payee)).toMatchObject({ status: 'paid', refundingEuros: 20 })
  expect(await moneyOf(payee)).toEqual([0, 20])
  // The lease of a request ended by a crash expires after two minutes.
  await service.sql(`update idempotency_keys set created_at = created_at - interval '3 minutes'`)
  expect(await giveBack(payee, service.url)).toMatchObject({ body: { refunds: [{ status: 'pending' }] } })
  await recover(payee)
  await until('the refund is recorded', async () => (await requestOf(payee)).refundingEuros === 0)
  await expectGivenBackOnce(payee)
}

const DISPUTED = 'charge.dispute.funds_withdrawn'
const WON = 'charge.dispute.funds_reinstated'

/** The payer's bank takes € 20 back; `moves` are the amounts in Stripe's balance. */
function dispute(payee: Payee, ...moves: number[]): void {
  const payment_intent = chargesOf(payee)[0]?.id
  const id = `dp_of_${payment_intent}`
  const balance_transactions = moves.map(amount => ({ amount, currency: 'eur' }))
  stripe.chargebacks.set(id, { id, payment_intent, reason: 'fraudulent', balance_transactions })
}

async function isChargedBack(killIt: Kill): Promise<void> {
  const payee = await aPaidPayee()
  dispute(payee, -2_000)
  await killIt(url => tell(payee, DISPUTED, url))
  expect(await moneyOf(payee)).toEqual([20, 0])
  for (const type of [DISPUTED, 'charge.dispute.updated']) expect(await tell(payee, type)).toBe(200)
  const taken = { status: 'completed', origin: 'network', amountEuros: 20 }
  expect(await refundsOf(payee.client, payee.id)).toMatchObject([taken])
  expect(await requestOf(payee)).toMatchObject({ status: 'refunded', refundedEuros: 20 })
  expect(await moneyOf(payee)).toEqual([0, 0])
  expect(await eventsOf(payee, 'refunded')).toHaveLength(1)
  expect(await present(payee.url, payee.another)).toMatchObject({ status: 409 })
  expect(chargesOf(payee)).toHaveLength(1)
  await expectVerifiedLedger(payee.client)
}

async function isWon(): Promise<void> {
  const payee = await aPaidPayee()
  dispute(payee, -2_000)
  expect(await tell(payee, DISPUTED)).toBe(200)
  dispute(payee, -2_000, 2_000)
  await writing(`before update on refunds for each row when (new.status = 'failed')`)(url =>
    tell(payee, WON, url),
  )
  expect(await moneyOf(payee)).toEqual([0, 0])
  for (const type of [WON, 'charge.dispute.closed']) expect(await tell(payee, type)).toBe(200)
  expect(await refundsOf(payee.client, payee.id)).toMatchObject([{ status: 'returned', origin: 'network' }])
  expect(await requestOf(payee)).toMatchObject({ status: 'paid', refundedEuros: 0 })
  expect(await moneyOf(payee)).toEqual([20, 0])
  expect(await eventsOf(payee, 'refund_failed')).toHaveLength(1)
  await expectVerifiedLedger(payee.client)
}

const recordingCharge = writing(`before update on mpp_settlements for each row when (new.status = 'paid')`)
const recordingRefund = writing(`before update on refunds for each row when (new.status = 'completed')`)
const charged = told('payment_intent.succeeded')
const refunded = told('refund.created')

describe('a process that is killed while a shared payment token pays', () => {
  testKills({
    'before the charge is stored has charged nothing: the token can pay': isNotStored,
    'before Stripe has created the payment intent, has it created once': () =>
      isCharged(asking(INTENTS, 'break'), polled),
    'before that, and the token is revoked, has charged nothing: another token can pay': isDeclined,
    'once Stripe has charged it, before Stripe’s answer, records it when Stripe is asked': () =>
      isCharged(asking(INTENTS, 'afterwards'), polled),
    'then, records it when Stripe is asked after a day': () =>
      isCharged(asking(INTENTS, 'afterwards'), polledLate),
    'then, records it when Stripe tells it': () => isCharged(asking(INTENTS, 'afterwards'), charged),
    'before it records the charge, records it when Stripe is asked': () => isCharged(recordingCharge, polled),
    'then, at the latest when Stripe tells it': () => isCharged(recordingCharge, charged),
    'before it answers, gives the answer to whoever asks again': isNotAnswered,
  })
})

describe('a process that is killed while Stripe gives money back', () => {
  testKills({
    'before the refund is stored has given nothing: the same request gives it': isNotRefunded,
    'before Stripe has made the refund, has it made once': () => isRefunded(asking(REFUNDS, 'break'), polled),
    'once Stripe has made it, before Stripe’s answer, records it when Stripe is asked': () =>
      isRefunded(asking(REFUNDS, 'afterwards'), polledLate),
    'then, records it when Stripe tells it': () => isRefunded(asking(REFUNDS, 'afterwards'), refunded),
    'before it records the refund, records it once': () => isRefunded(recordingRefund, polled),
  })
})

describe('a process that is killed while Stripe tells of a chargeback', () => {
  testKills({
    'before it has asked Stripe, takes the money when told again': () =>
      isChargedBack(asking(DISPUTES, 'break')),
    'before it records that, takes the money once': () =>
      isChargedBack(writing('before insert on refunds for each row')),
    'before it records that it was won, gives the money back once': isWon,
  })
})
