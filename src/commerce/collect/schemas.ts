import { z } from 'zod'
import { type Failure, missing } from '../../kernel/contract/operation.ts'
import { instant } from '../../values/clock.ts'
import { id } from '../../values/ids.ts'
import { euros } from '../../values/money.ts'
import { email, metadata, recordHead, recordTail } from '../../values/schemas.ts'
import { requestMachine } from './request.ts'
import { paymentWays, requestPaymentMachine, surplusReasons } from './request-payment.ts'

export const status = z.enum(requestMachine.states)
export const way = z.enum(paymentWays).meta({
  description: '`sepa`: a credit by SEPA. `card`: a machine payment. `wallet`: from another wallet here.',
})

const unlocksExample = { url: 'https://example.com/reports/17', licence: 'a1b2c3' }

/** How large `unlocks` may be, as JSON in UTF-8. */
const MOST_UNLOCKS = 16 * 1_024

export const unlocks = z
  .record(z.string().max(1_000), z.unknown())
  .refine(object => Buffer.byteLength(JSON.stringify(object)) <= MOST_UNLOCKS, {
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

export const RequestPaymentRecord = z
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

/** The refusals of what needs an open request that nobody is paying just now. */
export const openFails = {
  request_not_open: [400, 'The request waits for no money any more.'],
  payment_under_way: [409, 'A payment is under way. Try again once its outcome is known.'],
} as const satisfies Record<string, Failure>
