import { z } from 'zod'
import { event } from '../../kernel/contract/events.ts'
import { type Failure, get, list, missing, post } from '../../kernel/contract/operation.ts'
import { creditEvents } from '../../money/incoming/index.ts'
import { transactionEvents } from '../../money/transactions/index.ts'
import { purseRefusal } from '../../money/wallets/index.ts'
import { withoutCardNumbers } from '../../values/card-number.ts'
import { instant } from '../../values/clock.ts'
import { id } from '../../values/ids.ts'
import { euros, positiveEuros } from '../../values/money.ts'
import {
  email,
  freeText,
  givenMetadata,
  label,
  metadata,
  ProcessStatusRecord,
  recordHead,
  recordTail,
  timeRange,
} from '../../values/schemas.ts'
import {
  type PaymentRow,
  paymentWays,
  type RequestRow,
  requestMachine,
  requestPaymentMachine,
  surplusReasons,
} from './request.ts'

/** Names neither payer nor purpose: event data is kept and sent to webhooks. */
export const RequestEvent = z.object({
  requestId: id('request'),
  status: z.enum(requestMachine.states),
  amountEuros: euros,
})

const RequestPaymentEvent = RequestEvent.extend({
  paymentId: id('requestpayment'),
  way: z.enum(paymentWays),
  paidEuros: euros.meta({ description: 'What counts towards the request by now.' }),
})

export const requestEvents = {
  'claim.request.created': event('Somebody has been asked for money.', RequestEvent),
  'claim.request.expired': event('A request for money has expired unpaid.', RequestEvent),
  'claim.request.cancelled': event('A request for money has been cancelled.', RequestEvent),
}

export const paymentEvents = {
  'claim.request.paid': event('What was asked for has come, in full.', RequestEvent),
  'claim.request.expired': RequestEvent,
  'claim.request.partially_paid': event(
    'A part of what was asked for has come; the request waits for the rest.',
    RequestPaymentEvent,
  ),
  'claim.request.surplus_received': event(
    'Money has come for a request that does not count towards it: above the amount, or too late. It stays in the wallet.',
    RequestPaymentEvent.extend({
      surplusEuros: euros.meta({ description: 'What does not count of this payment.' }),
      reason: z.enum(surplusReasons),
    }),
  ),
}

export const requestEvent = ({ id, status, amountEuros }: RequestRow) => ({
  requestId: id,
  status,
  amountEuros,
})

export const requestPaymentEvent = (request: RequestRow, { id, way }: PaymentRow) => ({
  ...requestEvent(request),
  paymentId: id,
  way,
  paidEuros: request.paidEuros,
})

const status = z.enum(requestMachine.states)
export const way = z.enum(paymentWays).meta({
  description: '`sepa`: a credit by SEPA. `card`: a machine payment. `wallet`: from another wallet here.',
})

const unlocksExample = { url: 'https://example.com/reports/17', licence: 'a1b2c3' }

/** Bytes of `unlocks` as JSON in UTF-8. */
const MAX_UNLOCKS_BYTES = 16 * 1_024

const unlocks = z
  .record(z.string().max(1_000), z.unknown())
  .refine(object => Buffer.byteLength(JSON.stringify(object)) <= MAX_UNLOCKS_BYTES, {
    error: 'an object of up to 16 KiB as JSON',
  })
  .meta({
    maxProperties: 1_000,
    description: 'Given only to who has paid: a JSON object of up to 16 KiB.',
    examples: [unlocksExample],
  })

export const PaymentRequestRecord = z
  .object({
    ...recordHead('request'),
    agentId: id('agent').nullable().meta({ description: 'Whose wallet is paid; null for one of yours.' }),
    delegationId: id('delegation')
      .nullable()
      .meta({ description: 'The delegation whose token has made it.' }),
    walletId: id('wallet'),
    amountEuros: euros,
    description: z.string().meta({ examples: ['Report 17'] }),
    payerName: z.string().nullable(),
    payerEmail: email.nullable(),
    metadata,
    unlocks: z
      .record(z.string(), z.unknown())
      .nullable()
      .meta({ description: 'Shown to you, and to who has paid.', examples: [unlocksExample] }),
    reference: z.string().meta({
      description: 'The ISO 11649 creditor reference: a SEPA credit that names it pays this request.',
      examples: ['RF540000000042'],
    }),
    payUrl: z.url().meta({
      description: 'The page for a person who is to pay.',
      examples: ['https://pay.example.com/pay/request_01jd8x2m4ye7k9v0c3q5r6t8wz'],
    }),
    mppUrl: z.url().meta({
      description: 'The address for a program that is to pay: it answers 402 with a challenge of MPP.',
      examples: ['https://pay.example.com/collect/402/request_01jd8x2m4ye7k9v0c3q5r6t8wz'],
    }),
    status,
    paidEuros: euros.meta({ description: 'What has come and counts towards the amount.' }),
    surplusEuros: euros.meta({
      description: 'What has come and does not count: above the amount, or too late. It is in the wallet.',
    }),
    refundedEuros: euros,
    refundingEuros: euros.meta({ description: 'What is on its way back.' }),
    paidBy: way.nullable().meta({ description: 'How the payment came that completed it.' }),
    paidAt: instant.nullable(),
    expiresAt: instant,
    comment: z.string().nullable().meta({ description: 'What was said when it was cancelled.' }),
    workflowId: z.string().meta({ description: 'The run to find in the Temporal Web UI.' }),
    ...recordTail,
  })
  .meta({ id: 'PaymentRequest' })

const RequestPaymentRecord = z
  .object({
    ...recordHead('requestpayment'),
    requestId: id('request'),
    way,
    status: z.enum(requestPaymentMachine.states),
    amountEuros: euros,
    countedEuros: euros.meta({ description: 'The part that counts towards the request.' }),
    surplusReason: z
      .enum(surplusReasons)
      .nullable()
      .meta({ description: 'Why the rest does not; null where all of it counts.' }),
    refundedEuros: euros.meta({ description: 'What has gone back of it, and what is on its way back.' }),
    walletId: id('wallet').meta({ description: 'The wallet that it came into.' }),
    sourceId: z.string().meta({
      description: 'The incoming credit or the settlement by which it came.',
      examples: ['credit_01jd8x2m4ye7k9v0c3q5r6t8wz'],
    }),
    transactionId: id('txn').nullable(),
    receivedAt: instant.nullable(),
    ...recordTail,
  })
  .meta({ id: 'PaymentOfRequest' })

const request_not_found = missing('payment request')

export const lookupFails = { request_not_found } as const satisfies Record<string, Failure>

export const openFails = {
  request_not_open: [400, 'The request waits for no money any more.'],
  payment_under_way: [409, 'A payment is under way. Try again once its outcome is known.'],
} as const satisfies Record<string, Failure>

/** In cents: the most that an intent may be. */
const HIGHEST = 99_999_999_999n

const NO_NUMBER = 'No payment here takes one: leave it out.'

const readers = { callers: ['key', 'agent'], scope: 'collect:read' } as const
const requesters = { callers: ['key', 'agent'], scope: 'collect:write' } as const

const body = z.strictObject({
  walletId: id('wallet').meta({ description: 'Where the money goes. An agent asks for its own wallet.' }),
  amountEuros: positiveEuros(HIGHEST),
  description: z
    .string()
    .trim()
    .min(1)
    .max(200)
    .meta({ description: 'What it is for, as the payer reads it.', examples: ['Report 17'] }),
  payerName: label.nullable().default(null).meta({ description: 'For you. Nobody who pays is shown it.' }),
  payerEmail: email.nullable().default(null).meta({ description: 'For you. Nobody who pays is shown it.' }),
  expiresInHours: z.int().min(1).max(720),
  metadata: givenMetadata.prefault({}),
  unlocks: unlocks.nullable().default(null),
})

const comes = [
  '`open` until the money has come: by SEPA with `reference`, by a machine payment at `mppUrl`, or from another wallet here. SEPA credits may come in parts, which add up. Then it is `paid`. What comes above the amount, or once the request is not open any more, stays in the wallet; it is marked as `surplusEuros`, and can be refunded.',
  'What has not come in time is `expired`. A payment that was under way before the deadline counts, whenever it ends.',
].join('\n\n')

export const collectApi = {
  create: post('/collect/requests', {
    ...requesters,
    summary: 'Ask for money',
    description: `Answers with \`payUrl\` for people, \`mppUrl\` for programs, and the reference for a SEPA credit.\n\n${comes}`,
    body: withoutCardNumbers(body, NO_NUMBER),
    example: {
      walletId: 'wallet_01jd8x2m4ye7k9v0c3q5r6t8wz',
      amountEuros: 12.5,
      description: 'Report 17',
      expiresInHours: 72,
      unlocks: { url: 'https://example.com/reports/17' },
    },
    returns: [201, PaymentRequestRecord],
    fails: {
      wallet_not_found: [404, 'walletId: no such wallet. An agent’s token asks for its own wallet only.'],
      wallet_closed: [400, 'walletId: the wallet is closed.'],
      wallet_of_card: purseRefusal('walletId'),
    },
    emits: { 'claim.request.created': requestEvents['claim.request.created'] },
  }),
  list: list('/collect/requests', {
    ...readers,
    summary: 'List payment requests',
    description: 'Newest first.',
    filters: {
      status: status.optional(),
      walletId: id('wallet').optional(),
      agentId: id('agent').optional(),
      reference: z
        .string()
        .min(1)
        .max(40)
        .optional()
        .meta({ examples: ['RF540000000042'] }),
      paidBy: way.optional(),
      ...timeRange,
    },
    item: PaymentRequestRecord,
  }),
  get: get('/collect/requests/{id}', {
    ...readers,
    summary: 'Get a payment request',
    returns: [200, PaymentRequestRecord],
    fails: lookupFails,
  }),
  payments: list('/collect/requests/{id}/payments', {
    ...readers,
    summary: 'List what has come for a payment request',
    description: 'Newest first: each payment, and what of it does not count towards the request.',
    item: RequestPaymentRecord,
    fails: lookupFails,
  }),
  cancel: post('/collect/requests/{id}/cancel', {
    ...requesters,
    summary: 'Cancel a payment request',
    description:
      'While it is open and no payment on it is under way. A part that has come already stays in the wallet, and can be refunded.',
    body: z.strictObject({ comment: freeText.nullable().default(null) }),
    example: { comment: 'Paid in cash' },
    returns: [200, PaymentRequestRecord],
    fails: {
      ...lookupFails,
      ...openFails,
    },
    emits: {
      'claim.request.cancelled': requestEvents['claim.request.cancelled'],
      'claim.request.expired': requestEvents['claim.request.expired'],
    },
  }),
  status: get('/collect/requests/{id}/status', {
    readsClock: true,
    summary: 'Get the status of a payment request’s process',
    callers: [],
    returns: [200, ProcessStatusRecord],
    fails: lookupFails,
  }),
  /** Changes nothing before the deadline, by the tenant's clock, and nothing when it is repeated. */
  expire: post('/collect/requests/{id}/expire', {
    summary: 'Expire a payment request',
    callers: [],
    returns: [200, z.object({ done: z.boolean() })],
    fails: lookupFails,
    emits: { 'claim.request.expired': requestEvents['claim.request.expired'] },
  }),
  settle: post('/collect/requests/{id}/settle', {
    callers: ['key', 'agent'],
    scope: 'collect:write',
    summary: 'Settle a payment request',
    description:
      'Says which SEPA credit pays it, where the payer has left out or mistyped the reference: one that is in the wallet of the request and names nothing else. `incoming.received` told its `creditId`. It counts as if it had named the reference, in part or with a surplus. In test mode, without `creditId`, the sandbox bank sends what is due.',
    body: z.strictObject({
      creditId: id('credit').optional().meta({ description: 'Left out in test mode only.' }),
    }),
    example: {},
    returns: [200, PaymentRequestRecord],
    fails: {
      ...lookupFails,
      ...openFails,
      credit_required: [
        400,
        'creditId: name the credit that has come. Only in test mode the sandbox bank pays.',
      ],
      credit_not_found: [404, 'creditId: no such SEPA credit of yours.'],
      credit_not_in_wallet: [400, 'creditId: the credit is not in the wallet of the request.'],
      credit_pays_already: [400, 'creditId: the credit pays something already, and counts once.'],
    },
    emits: { ...paymentEvents, ...transactionEvents, ...creditEvents },
  }),
}
