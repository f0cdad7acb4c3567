import Stripe from 'stripe'
import { stripeAcquirer } from '../../../src/adapters/stripe/acquirer/stripe-acquirer.ts'
import { stripeIssuing } from '../../../src/adapters/stripe/issuing/stripe-issuing.ts'
import type { CardMessage, NewCard, ParsedCardMessage } from '../../../src/ports/card-processor.ts'
import { newCard, requestedAt } from './sandbox.ts'

export const SECRET_KEY = 'sk_live_51NeverToBeSeen'
export const REAL_TIME_SECRET = 'whsec_realtime1234567890'
export const EVENTS_SECRET = 'whsec_events1234567890'

const webhookSecrets = [REAL_TIME_SECRET, EVENTS_SECRET]

export const stripeAt = (apiUrl?: string, secretKey = SECRET_KEY) =>
  stripeIssuing({ secretKey, webhookSecrets, apiUrl })

export const acquirerAt = (apiUrl: string, networkId: string) =>
  stripeAcquirer({ secretKey: SECRET_KEY, webhookSecrets, apiUrl, networkId })

/** An adapter with short timeouts, so that a test of a silent Stripe is short. */
export const impatientStripeAt = (apiUrl: string, requestMs: number, callMs: number) =>
  stripeIssuing({ secretKey: SECRET_KEY, webhookSecrets, apiUrl }, { requestMs, callMs })

export const address = {
  line1: 'Torstraße 1',
  line2: null,
  city: 'Berlin',
  postalCode: '10119',
  country: 'DE',
} as const

export const aCard = (more: Partial<NewCard> = {}): NewCard =>
  newCard({
    holder: {
      name: 'Ada King',
      email: 'ada@example.com',
      type: 'individual',
      phone: '+493012345678',
      address,
    },
    ...more,
  })

export const secondsOf = (time: Date): number => Math.floor(time.getTime() / 1000)

/** Signs a body with Stripe's own function. */
export const signed = (body: string, secret = REAL_TIME_SECRET, at = requestedAt) => ({
  'stripe-signature': new Stripe(SECRET_KEY).webhooks.generateTestHeaderString({
    payload: body,
    secret,
    timestamp: secondsOf(at),
  }),
})

type Members = Readonly<Record<string, unknown>>

export const merchantData = {
  name: 'SQ *BOOKSHOP 1234 BERLIN',
  network_id: '1234567890',
  category: 'book_stores',
  category_code: '5942',
  city: 'Berlin',
  country: 'DE',
  url: 'https://books.example',
}

export const merchant = {
  descriptor: 'SQ *BOOKSHOP 1234 BERLIN',
  mcc: '5942',
  city: 'Berlin',
  country: 'DE',
  url: 'https://books.example',
  networkTokenId: null,
}

export const entry = (amount: number, approved: boolean, second = 0) => ({
  amount,
  approved,
  created: 1_795_000_000 + second,
  currency: 'eur',
  reason: approved ? 'webhook_approved' : 'webhook_declined',
})

export const anAuthorization = (more: Members = {}) => ({
  id: 'iauth_1',
  object: 'issuing.authorization',
  amount: 2_500,
  approved: true,
  card: { id: 'ic_1', object: 'issuing.card', last4: '0018' },
  currency: 'eur',
  merchant_amount: 2_900,
  merchant_currency: 'usd',
  merchant_data: merchantData,
  metadata: {},
  pending_request: null,
  request_history: [entry(2_500, true)],
  status: 'pending',
  token: null,
  transactions: [],
  ...more,
})

export const aTransaction = (more: Members = {}) => ({
  id: 'ipi_1',
  object: 'issuing.transaction',
  amount: -2_500,
  authorization: 'iauth_1',
  card: 'ic_1',
  currency: 'eur',
  merchant_data: merchantData,
  token: null,
  type: 'capture',
  ...more,
})

export const eventOf = (type: string, object: unknown, before?: Members): string =>
  JSON.stringify({
    id: 'evt_1',
    object: 'event',
    type,
    created: secondsOf(requestedAt),
    data: { object, ...(before ? { previous_attributes: before } : {}) },
  })

const processor = stripeAt()

export const readEvent = (type: string, object: unknown, before?: Members): ParsedCardMessage => {
  const body = eventOf(type, object, before)
  return processor.read(Buffer.from(body), signed(body), requestedAt)
}

export function messageOf(type: string, object: unknown, before?: Members): CardMessage {
  const read = readEvent(type, object, before)
  if (read.kind !== 'message') throw new Error(JSON.stringify(read))
  return read.message
}

export const updateOf = (more: Members, before: Members = {}) =>
  messageOf('issuing_authorization.updated', anAuthorization(more), before).content
