import { z } from 'zod'
import { get, list, post } from '../../kernel/contract/operation.ts'
import { purseRefusal } from '../../money/wallets/index.ts'
import { withoutCardNumbers } from '../../values/card-number.ts'
import { id } from '../../values/ids.ts'
import { positiveEuros } from '../../values/money.ts'
import {
  email,
  freeText,
  givenMetadata,
  label,
  ProcessStatusRecord,
  timeRange,
} from '../../values/schemas.ts'
import { requestEvents } from './events.ts'
import {
  lookupFails,
  openFails,
  PaymentRequestRecord,
  RequestPaymentRecord,
  status,
  unlocks,
  way,
} from './schemas.ts'

/** The most that one request may ask for, in cents: the most that an intent may be. */
const HIGHEST = 99_999_999_999n

const NO_NUMBER = 'No payment here takes one: leave it out.'

const readers = { callers: ['key', 'agent'], scope: 'collect:read' } as const
const askers = { callers: ['key', 'agent'], scope: 'collect:write' } as const

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
    ...askers,
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
    ...askers,
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
  /** The process of the request reads this whenever the request has changed. */
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
}
