import { z } from 'zod'
import { operationsFor } from '../../kernel/contract/callers.ts'
import { step } from '../../kernel/contract/step.ts'
import { incomingCreditEvents } from '../../money/incoming/index.ts'
import { transactionEvents } from '../../money/transactions/index.ts'
import { purseRefusal } from '../../money/wallets/index.ts'
import { refuseCardNumbers } from '../../values/card-number.ts'
import { instant } from '../../values/clock.ts'
import { id } from '../../values/ids.ts'
import { cents, moneySchema, positiveMoneySchema } from '../../values/money.ts'
import {
  anyJsonObjectSchema,
  emailSchema,
  freeTextSchema,
  inputMetadataSchema,
  labelSchema,
  recordHead,
  recordTimestamps,
  timeRangeMembers,
} from '../../values/schemas.ts'
import {
  PaymentRequestRecord,
  paymentRequestEvents,
  paymentRequestMachine,
  paymentSurplusReasons,
  paymentWaySchema,
  requestLookupRefusals,
  requestNotOpenRefusals,
  requestPaidEvents,
  requestPaymentMachine,
  unlocksExample,
} from '../payment-requests/index.ts'

const status = z.enum(paymentRequestMachine.states)

const MAX_UNLOCKS_BYTES = 16 * 1_024

const unlocks = anyJsonObjectSchema(1_000)
  .refine(object => Buffer.byteLength(JSON.stringify(object)) <= MAX_UNLOCKS_BYTES, {
    error: 'an object of up to 16 KiB as JSON',
  })
  .meta({
    maxProperties: 1_000,
    description: 'Returned only to a payer who has paid: a JSON object of up to 16 KiB.',
    examples: [unlocksExample],
  })

const RequestPaymentRecord = z
  .object({
    ...recordHead('requestpayment'),
    requestId: id('request'),
    way: paymentWaySchema,
    status: z.enum(requestPaymentMachine.states),
    amountCents: moneySchema,
    countedCents: moneySchema.meta({ description: 'Amount that counts towards the request.' }),
    surplusReason: z
      .enum(paymentSurplusReasons)
      .nullable()
      .meta({ description: 'Why the rest does not count. Null if all of it counts.' }),
    refundedCents: moneySchema.meta({ description: 'Amount refunded so far, including pending refunds.' }),
    walletId: id('wallet').meta({ description: 'The credited wallet.' }),
    sourceId: z.string().meta({
      description: 'The incoming credit or settlement of the payment.',
      examples: ['credit_01jd8x2m4ye7k9v0c3q5r6t8wz'],
    }),
    transactionId: id('txn').nullable(),
    receivedAt: instant.nullable(),
    ...recordTimestamps,
  })
  .meta({ id: 'PaymentOfRequest' })

const HIGHEST = cents(99_999_999_999n)

const NO_NUMBER = 'No payment here accepts card numbers. Leave it out.'

const readers = operationsFor({ callers: ['key', 'agent'], scope: 'collect:read' })
const requesters = operationsFor({ callers: ['key', 'agent'], scope: 'collect:write' })

const body = z.strictObject({
  walletId: id('wallet').meta({
    description: 'The wallet to credit. An agent can only name its own wallet.',
  }),
  amountCents: positiveMoneySchema(HIGHEST),
  description: z
    .string()
    .trim()
    .min(1)
    .max(200)
    .meta({ description: 'The purpose, shown to the payer.', examples: ['Report 17'] }),
  payerName: labelSchema
    .nullable()
    .default(null)
    .meta({ description: 'For your own use; not shown to the payer.' }),
  payerEmail: emailSchema
    .nullable()
    .default(null)
    .meta({ description: 'For your own use; not shown to the payer.' }),
  expiresInHours: z.int().min(1).max(720),
  metadata: inputMetadataSchema.prefault({}),
  unlocks: unlocks.nullable().default(null),
})

const waysDescription = [
  '`open` until it is paid: by SEPA with `reference`, by a machine payment at `mppUrl`, or from another wallet here. SEPA credits may come in parts, which add up. Then it is `paid`. Money above the amount, or after the request has ended, stays in the wallet; it is shown as `surplusEuros` and can be refunded.',
  'A request that is not paid in time is `expired`. A payment that was under way before the deadline counts, even if it ends later.',
].join('\n\n')

export const collectApi = {
  create: requesters.post('/collect/requests', {
    summary: 'Create a payment request',
    description: `Returns \`payUrl\` for people, \`mppUrl\` for programs, and the reference for a SEPA credit.\n\n${waysDescription}`,
    body: refuseCardNumbers(body, NO_NUMBER),
    example: {
      walletId: 'wallet_01jd8x2m4ye7k9v0c3q5r6t8wz',
      amountEuros: 12.5,
      description: 'Report 17',
      expiresInHours: 72,
      unlocks: { url: 'https://example.com/reports/17' },
    },
    returns: [201, PaymentRequestRecord],
    fails: {
      wallet_not_found: [404, 'walletId: no such wallet. An agent can only name its own wallet.'],
      wallet_closed: [400, 'walletId: the wallet is closed.'],
      wallet_of_card: purseRefusal('walletId'),
    },
    emits: { 'claim.request.created': paymentRequestEvents['claim.request.created'] },
  }),
  list: readers.list('/collect/requests', {
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
      paidBy: paymentWaySchema.optional(),
      ...timeRangeMembers,
    },
    item: PaymentRequestRecord,
  }),
  get: readers.getOne(
    '/collect/requests/{id}',
    'a payment request',
    PaymentRequestRecord,
    requestLookupRefusals,
  ),
  payments: readers.list('/collect/requests/{id}/payments', {
    summary: 'List the payments of a payment request',
    description: 'Newest first: each payment, and the part that does not count towards the request.',
    item: RequestPaymentRecord,
    fails: requestLookupRefusals,
  }),
  cancel: requesters.post('/collect/requests/{id}/cancel', {
    summary: 'Cancel a payment request',
    description:
      'Possible while the request is open and no payment on it is under way. A partial payment stays in the wallet and can be refunded.',
    body: z.strictObject({ comment: freeTextSchema.nullable().default(null) }),
    example: { comment: 'Paid in cash' },
    returns: [200, PaymentRequestRecord],
    fails: {
      ...requestLookupRefusals,
      ...requestNotOpenRefusals,
    },
    emits: {
      'claim.request.cancelled': paymentRequestEvents['claim.request.cancelled'],
      'claim.request.expired': paymentRequestEvents['claim.request.expired'],
    },
  }),
  settle: requesters.post('/collect/requests/{id}/settle', {
    summary: 'Settle a payment request',
    description:
      'Names the SEPA credit that pays the request, if the payer left out or mistyped the reference: it must be in the request’s wallet and pay nothing else. `incoming.received` has its `creditId`. The credit counts as if it had the reference, in part or with a surplus. In test mode, without `creditId`, the sandbox bank pays the amount due.',
    body: z.strictObject({
      creditId: id('credit').optional().meta({ description: 'Optional in test mode only.' }),
    }),
    example: {},
    returns: [200, PaymentRequestRecord],
    fails: {
      ...requestLookupRefusals,
      ...requestNotOpenRefusals,
      credit_required: [
        400,
        'creditId: name the received credit. It is optional only in test mode, where the sandbox bank pays.',
      ],
      credit_not_found: [404, 'creditId: you have no such SEPA credit.'],
      credit_not_in_wallet: [400, 'creditId: the credit is not in the wallet of the request.'],
      credit_pays_already: [400, 'creditId: the credit already pays something. Each credit counts once.'],
    },
    emits: { ...requestPaidEvents, ...transactionEvents, ...incomingCreditEvents },
  }),
}

export const collectSteps = {
  /** Changes nothing before the deadline, by the tenant's clock. */
  expire: step('collect.expire', {
    summary: 'Expire a payment request',
    emits: { 'claim.request.expired': paymentRequestEvents['claim.request.expired'] },
  }),
}
