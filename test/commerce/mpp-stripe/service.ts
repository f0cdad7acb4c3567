import { clock } from '../../../src/values/clock.ts'
import { anAgentClient, aSpender } from '../../support/cards/reveal.ts'
import {
  acquirerAt,
  anAuthorization,
  aTransaction,
  entry,
  eventOf,
  merchantData,
  REAL_TIME_SECRET,
  signed,
  stripeAt,
} from '../../support/cards/stripe.ts'
import { startStripeDouble } from '../../support/cards/stripe-double.ts'
import { credentialsOn, type Payer } from '../../support/commerce/payers.ts'
import { mppxStripeMerchant } from '../../support/commerce/peer-merchants.ts'
import { anIntent, bodyOf } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'

export const double = await startStripeDouble()

/** Stripe issues the cards of both modes and charges others, so that merchants on the loopback can be paid. */
export const service = await startTestService({
  env: { OUTBOUND_ALLOW_CIDRS: '127.0.0.1' },
  outside: {
    cardProcessor: () => stripeAt(double.url),
    acquirer: () => acquirerAt(double.url, double.seller.profile),
  },
})

const ADDRESS = { line1: 'Torstraße 1', city: 'Berlin', postalCode: '10119', country: 'DE' }

export interface StripePayer extends Payer {
  readonly processorCardId: string
}

/** An agent with money, a card of Stripe, and an approved intent for the merchant on the loopback. */
export async function aStripePayer(amountEuros = 20, rules: object = {}): Promise<StripePayer> {
  const owner = await service.owner()
  const { client } = owner
  await bodyOf(client.customers.updateMe({ body: { phone: '+493012345678', address: ADDRESS } }))
  const agent = await aSpender(client, rules)
  const { id } = await bodyOf(client.cards.create({ body: { agentId: agent.id, usage: 'multi' } }))
  const processorCardId = String([...double.cards.keys()].at(-1))
  const intent = await anIntent(client, agent.id, { merchant: '127.0.0.1', amountEuros })
  const agentClient = await anAgentClient(service, client, agent.id)
  return { owner, client, agent, card: { id, processorCardId }, intent, agentClient, processorCardId }
}

let events = 0

export async function deliverEvent(type: string, object: object, secret = REAL_TIME_SECRET) {
  const body = eventOf(type, object).replace('evt_1', `evt_spt_${++events}`)
  const headers = signed(body, secret, clock.real())
  return fetch(`${service.url}/rails/card-processor`, { method: 'POST', headers, body })
}

async function sendEvent(type: string, object: object) {
  const response = await deliverEvent(type, object)
  return (await response.json()) as { approved?: boolean }
}

/** The network's request reaches the service as Stripe's real-time event, as for every card payment. */
export const askIssuer = async (
  id: string,
  card: string,
  amount: number,
  { name = merchantData.name, ...ofMerchant }: { name?: string } & Record<string, unknown> = {},
) => {
  const pending_request = { amount, currency: 'eur', is_amount_controllable: false, ...ofMerchant }
  const merchant_data = { ...merchantData, name }
  const asked = anAuthorization({ id, card, amount: 0, request_history: [], pending_request, merchant_data })
  return (await sendEvent('issuing_authorization.request', asked)).approved === true
}

double.network.approves = ({ card, amount, paymentIntent }) =>
  askIssuer(`iauth_${paymentIntent}`, card, amount)

export const cleared = (id: string, card: string, amount: number) =>
  sendEvent(
    'issuing_transaction.created',
    aTransaction({ id: `ipi_${id}`, amount: -amount, authorization: id, card }),
  )

export const authorized = (id: string, card: string, amount: number, approved = true) =>
  sendEvent(
    'issuing_authorization.created',
    anAuthorization({
      ...{ id, card, amount, merchant_amount: null, merchant_currency: null },
      request_history: [entry(amount, approved)],
    }),
  )

export const merchantFor = (options: Partial<Parameters<typeof mppxStripeMerchant>[0]> = {}) =>
  mppxStripeMerchant({ amount: '20', networkId: double.seller.profile, apiUrl: double.url, ...options })

export const credentialOf = async ({ client, intent }: Payer) => (await credentialsOn(client, intent.id))[0]

export const transactionsOf = async ({ client, intent }: Payer) =>
  (await bodyOf(client.transactions.list({ query: { intentId: intent.id } }))).data

export const tokens = () => [...double.tokens.values()]
