import { z } from 'zod'
import { declareEvent } from '../../kernel/contract/events.ts'
import { notFound, type RefusalSpec } from '../../kernel/contract/operation.ts'
import { instant } from '../../values/clock.ts'
import { id } from '../../values/ids.ts'
import { moneySchema } from '../../values/money.ts'
import { emailSchema, metadataSchema, recordHead, recordTimestamps } from '../../values/schemas.ts'
import {
  type PaymentRequestRow,
  paymentRequestMachine,
  paymentSurplusReasons,
  paymentWays,
  type RequestPaymentRow,
} from './payment-request.ts'

/** Contains neither payer nor purpose, since event data is kept and sent to webhooks. */
export const PaymentRequestEvent = z.object({
  requestId: id('request'),
  status: z.enum(paymentRequestMachine.states),
  amountCents: moneySchema,
})

const RequestPaymentEvent = PaymentRequestEvent.extend({
  paymentId: id('requestpayment'),
  way: z.enum(paymentWays),
  paidCents: moneySchema.meta({ description: 'The amount that counts towards the request so far.' }),
})

export const paymentRequestEvents = {
  'claim.request.created': declareEvent('A payment request has been created.', PaymentRequestEvent),
  'claim.request.expired': declareEvent('A payment request has expired unpaid.', PaymentRequestEvent),
  'claim.request.cancelled': declareEvent('A payment request has been cancelled.', PaymentRequestEvent),
}

export const requestPaidEvents = {
  'claim.request.paid': declareEvent('A payment request has been paid in full.', PaymentRequestEvent),
  'claim.request.expired': PaymentRequestEvent,
  'claim.request.partially_paid': declareEvent(
    'A payment request has been paid in part.',
    RequestPaymentEvent,
  ),
  'claim.request.surplus_received': declareEvent(
    'A payment does not count towards its request: it exceeds the amount, or came too late. The money stays in the wallet.',
    RequestPaymentEvent.extend({
      surplusCents: moneySchema.meta({ description: 'The part of this payment that does not count.' }),
      reason: z.enum(paymentSurplusReasons),
    }),
  ),
}

export const paymentRequestEvent = ({ id, status, amountCents }: PaymentRequestRow) => ({
  requestId: id,
  status,
  amountCents,
})

export const requestPaymentEvent = (request: PaymentRequestRow, { id, way }: RequestPaymentRow) => ({
  ...paymentRequestEvent(request),
  paymentId: id,
  way,
  paidCents: request.paidCents,
})

export const paymentWaySchema = z.enum(paymentWays).meta({
  description: '`sepa`: a credit by SEPA. `card`: a machine payment. `wallet`: from another wallet here.',
})

export const unlocksExample = { url: 'https://example.com/reports/17', licence: 'a1b2c3' }

export const PaymentRequestRecord = z
  .object({
    ...recordHead('request'),
    agentId: id('agent')
      .nullable()
      .meta({ description: 'The agent whose wallet is paid. Null if it is your own wallet.' }),
    delegationId: id('delegation')
      .nullable()
      .meta({ description: 'The delegation whose token created the request.' }),
    walletId: id('wallet'),
    amountCents: moneySchema,
    description: z.string().meta({ examples: ['Report 17'] }),
    payerName: z.string().nullable(),
    payerEmail: emailSchema.nullable(),
    metadata: metadataSchema,
    unlocks: z
      .record(z.string(), z.unknown())
      .nullable()
      .meta({ description: 'Shown to you, and to a payer who has paid.', examples: [unlocksExample] }),
    reference: z.string().meta({
      description: 'The ISO 11649 creditor reference: a SEPA credit that names it pays this request.',
      examples: ['RF540000000042'],
    }),
    payUrl: z.url().meta({
      description: 'The page for a person who pays.',
      examples: ['https://pay.example.com/pay/request_01jd8x2m4ye7k9v0c3q5r6t8wz'],
    }),
    mppUrl: z.url().meta({
      description: 'The URL for a program that pays. It answers 402 with an MPP challenge.',
      examples: ['https://pay.example.com/collect/402/request_01jd8x2m4ye7k9v0c3q5r6t8wz'],
    }),
    status: z.enum(paymentRequestMachine.states),
    paidCents: moneySchema.meta({ description: 'Amount received and counted towards the request.' }),
    surplusCents: moneySchema.meta({
      description: 'Amount received in excess or too late. It is in the wallet.',
    }),
    refundedCents: moneySchema,
    refundingCents: moneySchema.meta({ description: 'Amount in pending refunds.' }),
    paidBy: paymentWaySchema.nullable().meta({ description: 'How the completing payment was made.' }),
    paidAt: instant.nullable(),
    expiresAt: instant,
    comment: z.string().nullable().meta({ description: 'Comment on the cancellation.' }),
    workflowId: z.string().meta({ description: 'The run’s ID in the Temporal Web UI.' }),
    ...recordTimestamps,
  })
  .meta({ id: 'PaymentRequest' })

const request_not_found = notFound('payment request')

export const requestLookupRefusals = { request_not_found } as const satisfies Record<string, RefusalSpec>

export const requestNotOpenRefusals = {
  request_not_open: [400, 'The request is no longer open.'],
  payment_under_way: [409, 'A payment is under way. Try again once its outcome is known.'],
} as const satisfies Record<string, RefusalSpec>
