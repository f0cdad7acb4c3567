import { z } from 'zod'
import { internal, operationsFor } from '../../../kernel/contract/callers.ts'
import {
  doneSchema,
  get,
  notFound,
  post,
  type RefusalForm,
  type RefusalSpec,
} from '../../../kernel/contract/operation.ts'
import { IncomingCreditEvent } from '../../../money/incoming/index.ts'
import { transactionEvents } from '../../../money/transactions/index.ts'
import { WalletEvent } from '../../../money/wallets/index.ts'
import { instant } from '../../../values/clock.ts'
import { id } from '../../../values/ids.ts'
import { moneySchema } from '../../../values/money.ts'
import { recordHead, recordTimestamps } from '../../../values/schemas.ts'
import { requestPaidEvents } from '../../payment-requests/index.ts'
import { requestRefundingEvents } from '../../refunds/index.ts'
import { settlementMachine } from './settlement.ts'

export const cardSettlementEvents = {
  ...requestPaidEvents,
  ...transactionEvents,
  'incoming.received': IncomingCreditEvent,
  'wallet.credited': WalletEvent,
  'wallet.debited': WalletEvent,
}

const paidFails = {
  request_not_found: [404, 'There is no such payment request.'],
  payment_required: [
    402,
    'Pay the challenge in WWW-Authenticate, and send the same request with the credential.',
    { problem: ['payment-required', 'Payment Required'] },
  ],
  credential_malformed: [
    402,
    'The credential cannot be read.',
    { problem: ['malformed-credential', 'Malformed Credential'] },
  ],
  challenge_invalid: [
    402,
    'The challenge was not issued here, or was altered.',
    { problem: ['invalid-challenge', 'Invalid Challenge'] },
  ],
  challenge_expired: [
    402,
    'The challenge has expired. Pay the fresh one.',
    { problem: ['payment-expired', 'Payment Expired'] },
  ],
  payload_invalid: [
    402,
    'The payload of the credential cannot be used.',
    { problem: ['invalid-payload', 'Invalid Payload'] },
  ],
  payment_refused: [
    402,
    'The payment was refused.',
    { problem: ['verification-failed', 'Verification Failed'] },
  ],
  method_not_offered: [
    400,
    'Only the methods card and stripe with the intent charge can be offered here.',
    { problem: ['method-unsupported', 'Method Unsupported'] },
  ],
  challenge_used: [
    402,
    'Another credential has been presented for this challenge. Pay the fresh one.',
    { problem: ['invalid-challenge', 'Invalid Challenge'] },
  ],
  payment_under_way: [
    409,
    'A payment is under way. Send the same credential again in a moment; do not pay again.',
  ],
  request_paid: [409, 'This has already been paid.'],
  request_gone: [410, 'This can no longer be paid: it has expired or was cancelled.'],
  outcome_open: [
    504,
    'The acquirer has not answered yet. Send the same credential again later to get the outcome; nothing is charged twice.',
  ],
} as const satisfies Record<string, RefusalSpec>

export type PaymentRequiredRefusal = keyof typeof paidFails

export function paymentRequiredRefusal(asks: NonNullable<RefusalForm['asks']>): RefusalSpec {
  const [status, message, form] = paidFails.payment_required
  return [status, message, { ...form, asks }]
}

export const paymentRequiredContract = {
  callers: ['public'],
  run: 'hot-external',
  requires: 'acquirer',
  limits: { bodyKiB: 256 },
  http: {
    reads: {
      authorization: 'The credential: `Payment <base64url>`. Other schemes are ignored.',
      'payment-authorization': 'The credential, for clients that need `Authorization` for themselves.',
      'accept-payment':
        'The methods that the client supports. Without it, only `card` is offered if it can be.',
    },
    headers: {
      200: {
        'Payment-Receipt':
          'The receipt: base64url of JSON, with `challengeId`, `externalId` and a signed `proof`.',
        'Cache-Control': 'Always `private`: the content is only for the payer.',
      },
      402: { 'WWW-Authenticate': 'A fresh challenge of the scheme `Payment` for each accepted method.' },
    },
  },
  fails: paidFails,
  emits: cardSettlementEvents,
} as const

const SettlementRecord = z
  .object({
    ...recordHead('settlement'),
    requestId: id('request').nullable(),
    agentId: id('agent')
      .nullable()
      .meta({ description: 'The agent whose wallet is paid. Null if it is your own wallet.' }),
    challengeId: z.string().meta({ description: 'The card is charged once per challenge.' }),
    amountCents: moneySchema,
    network: z.string().meta({ examples: ['visa'] }),
    last4: z
      .string()
      .meta({ description: 'Last digits of the network token; empty for `stripe`.', examples: ['4242'] }),
    status: z.enum(settlementMachine.states).meta({
      description: '`charging` until the acquirer reports the outcome.',
    }),
    declineCode: z.string().nullable(),
    declineReason: z.string().nullable(),
    receipt: z
      .string()
      .nullable()
      .meta({ description: 'The header `Payment-Receipt`, as the payer got it.' }),
    settledAt: instant.nullable(),
    dueAt: instant
      .nullable()
      .meta({ description: 'The time at which the acquirer is next asked for the outcome.' }),
    ...recordTimestamps,
  })
  .meta({ id: 'Settlement' })

const Unlocked = z
  .object({
    requestId: id('request'),
    settlementId: id('settlement'),
    amountCents: moneySchema,
    description: z.string(),
    paidAt: instant,
    unlocks: z
      .record(z.string(), z.unknown())
      .nullable()
      .meta({
        description: 'The content that the payer gets.',
        examples: [{ url: 'https://example.com/reports/17' }],
      }),
  })
  .meta({ id: 'UnlockedRequest' })

const description = `For programs, which pay by the Machine Payments Protocol with the scheme \`Payment\`, the methods \`card\` and \`stripe\` and the intent \`charge\`. Without a credential the answer is 402 with fresh challenges, good for five minutes.\n\nSend the same request with the credential in \`Authorization\` (or \`Payment-Authorization\`): the card is charged once under the id of the challenge, and the answer is 200 with the receipt and what the request unlocks.

The same credential again gets the same answer; another one for a used challenge gets 402. A 504 means that the outcome is not known yet: send the same credential again later. A body has no meaning, but is bound to the challenge by its digest. In test mode the acquirer is simulated: \`4242424242424242\` pays, and [the card sandbox](/docs/guides/card-sandbox) lists the tokens that do not.`

const payment_required = paymentRequiredRefusal({
  offers: [
    { method: 'card', intent: 'charge', currency: 'eur', amount: null },
    { method: 'stripe', intent: 'charge', currency: 'eur', amount: null },
  ],
})

const fails = { settlement_not_found: notFound('settlement') }

const readers = operationsFor({ callers: ['key', 'agent'], scope: 'collect:read' })

export const settlementsApi = {
  pay: get('/collect/402/{id}', {
    ...paymentRequiredContract,
    summary: 'Pay a request by machine',
    description,
    returns: [200, Unlocked],
    fails: { ...paymentRequiredContract.fails, payment_required },
  }),
  payByPost: post('/collect/402/{id}', {
    ...paymentRequiredContract,
    summary: 'Pay a request by machine, with POST',
    description: 'As `GET /collect/402/{id}`, for clients that send a body.',
    returns: [200, Unlocked],
    fails: { ...paymentRequiredContract.fails, payment_required },
  }),
  list: readers.list('/collect/settlements', {
    summary: 'List the card payments for your requests',
    description: 'Newest first: every charge, including declined ones.',
    filters: {
      requestId: id('request').optional(),
      status: z.enum(settlementMachine.states).optional(),
      challengeId: z.string().min(1).max(100).optional(),
    },
    item: SettlementRecord,
  }),
  get: readers.getOne('/collect/settlements/{id}', 'a card payment for a request', SettlementRecord, fails),
  askAcquirer: internal.post('/collect/settlements/{id}/ask', {
    summary: 'Ask the acquirer for the outcome of a charge',
    run: 'external',
    requires: 'acquirer',
    returns: [200, doneSchema],
    fails,
    emits: cardSettlementEvents,
  }),
  notice: internal.post('/collect/settlements/notices', {
    summary: 'Ask the acquirer for the news that it has signed',
    run: 'external',
    requires: 'acquirer',
    body: z.strictObject({
      about: z.enum(['charge', 'returns']),
      reference: z.string().max(100).meta({ description: 'The id of the challenge.' }),
    }),
    example: { about: 'charge', reference: 'x'.repeat(43) },
    returns: [200, doneSchema],
    fails: { outcome_open: paidFails.outcome_open },
    emits: { ...cardSettlementEvents, ...requestRefundingEvents },
  }),
}
