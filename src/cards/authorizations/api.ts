import { z } from 'zod'
import { DecisionRecord } from '../../control/decisions/index.ts'
import { intentPaidEvents } from '../../control/intents/index.ts'
import { internal, operationsFor } from '../../kernel/contract/callers.ts'
import { declareEvent } from '../../kernel/contract/events.ts'
import { notFound, post } from '../../kernel/contract/operation.ts'
import { refundArrivedEvents } from '../../money/refunds/index.ts'
import type { CardNotice } from '../../ports/card-processor.ts'
import { refuseCardNumbers } from '../../values/card-number.ts'
import { instant } from '../../values/clock.ts'
import { id } from '../../values/ids.ts'
import { moneySchema } from '../../values/money.ts'
import { OriginalAmountRecord } from '../../values/original-amount.ts'
import {
  countrySchema,
  patternTextSchema,
  recordHead,
  recordTimestamps,
  searchTextSchema,
  timeRangeMembers,
} from '../../values/schemas.ts'
import { agentCredentialChargeEvents } from '../agent-credentials/index.ts'
import { cardNoticeEvents } from '../cards/index.ts'
import { authorizationMachine, fundingSources } from './authorization.ts'
import { authorizationDecisionEvents } from './authorize.ts'
import type { IncomingMessage, PaymentMessage } from './incoming-message.ts'

const status = z.enum(authorizationMachine.states)

const AuthorizationRecord = z
  .object({
    ...recordHead('cardauth'),
    cardId: id('card').nullable(),
    agentId: id('agent'),
    status: status.meta({
      description:
        '`pending`: a machine payment is under way and its outcome is unknown; `void`: it was not paid. `authorized`: held, or cleared in part. `cleared`: cleared in full. `reversed`: released by the merchant. `expired`: not cleared in time. `confirmed`: paid according to the agent’s checkout or the receipt of a machine payment; the network has not reported it yet.',
    }),
    amountCents: moneySchema.meta({ description: 'The requested amount, with all increments.' }),
    original: OriginalAmountRecord.nullable(),
    approvedCents: moneySchema,
    heldCents: moneySchema.meta({ description: 'Amount still held.' }),
    clearedCents: moneySchema.meta({ description: 'Amount cleared by the merchant.' }),
    refundedCents: moneySchema,
    merchant: z.string(),
    descriptor: z.string().meta({ description: 'The merchant as the network writes it.' }),
    mcc: z.string().nullable(),
    country: z.string().nullable(),
    source: z.enum(fundingSources).meta({
      description:
        'Source of the money: the hold of an approved intent, the purse of the card, or the wallet of the agent.',
    }),
    walletId: id('wallet'),
    intentId: id('intent').nullable(),
    mppCredentialId: id('mppcredential')
      .nullable()
      .meta({ description: 'The machine payment that started the authorization.' }),
    declineReason: z.string().nullable(),
    decision: DecisionRecord.nullable().meta({
      description: 'The decision about the first request. Null if the network sent none.',
    }),
    expiresAt: instant.nullable().meta({ description: 'The time at which the hold is released.' }),
    transactionId: id('txn').nullable(),
    ...recordTimestamps,
  })
  .meta({ id: 'CardAuthorization' })

const rule = z.object({
  rule: z.string(),
  outcome: z.enum(['pass', 'fail', 'review', 'skip']),
  message: z.string(),
  remedy: z.string().nullable(),
})

const AuthorizationExplanation = z
  .object({
    authorizationId: id('cardauth'),
    decisionId: id('decision').nullable(),
    decidedAt: instant,
    summary: z.string(),
    intentId: id('intent').nullable(),
    paidFrom: z.string().meta({ description: 'Source of the money, in words.' }),
    rules: z.array(rule),
    remedies: z
      .array(z.string())
      .meta({ description: 'What would lead to an approval. Empty if the payment was approved.' }),
  })
  .meta({ id: 'CardAuthorizationExplanation' })

const descriptor = z.string().trim().min(1).max(200)

const SimulatedRequest = z.strictObject({
  amountCents: moneySchema,
  merchant: descriptor.meta({
    description: 'The merchant as a card network writes it.',
    examples: ['SQ *BOOKSHOP 1234 BERLIN'],
  }),
  url: z.string().trim().min(1).max(300).nullable().default(null).meta({
    description: 'The web address of the merchant, if the network knows it.',
  }),
  mcc: patternTextSchema(/^\d{4}$/, 4, 'a merchant category code has four digits')
    .nullable()
    .default(null),
  city: z.string().trim().min(1).max(100).nullable().default(null).meta({
    description: 'City of the merchant, if the network has a separate field for it.',
  }),
  country: countrySchema.nullable().default(null),
  partialAllowed: z.boolean().default(false),
})

const SimulatedAnswer = z
  .object({
    approved: z.boolean(),
    approvedCents: moneySchema,
    reason: z.string(),
    source: z.enum(fundingSources),
    intentId: id('intent').nullable(),
    walletId: id('wallet'),
    decision: DecisionRecord.extend({ id: z.null().meta({ examples: [null] }) }),
    remedies: z.array(z.string()),
  })
  .meta({ id: 'SimulatedCardAuthorization' })

export const ProcessorMessageAnswer = z.object({
  status: z.int(),
  headers: z.record(z.string(), z.string()),
  body: z.string(),
})

const RefusedMessage = z.object({
  cardId: id('card'),
  agentId: id('agent'),
  messageId: z.string(),
  reason: z.string(),
})

/** Made only by the processor's webhook, from a message whose signature is verified. */
const messageOf = <M extends PaymentMessage | IncomingMessage>() =>
  z.custom<M>(
    value => typeof value === 'object' && value !== null && 'content' in value,
    'must be a message of the card processor',
  )

export const incomingMessageSchema = messageOf<IncomingMessage>()

export const authorizationEvents = { ...refundArrivedEvents, ...intentPaidEvents }

const messageEvents = {
  ...authorizationEvents,
  ...agentCredentialChargeEvents,
  ...authorizationDecisionEvents,
  'card.message_refused': declareEvent(
    'A message of the card processor reused the ID of another one and was refused.',
    RefusedMessage,
  ),
}

const card_not_found = notFound('card')
const authorization_not_found = notFound('authorization')
const readers = operationsFor({ callers: ['key', 'agent'], scope: 'cards:read' })

const webhookDescription = [
  'The webhook of the card processor: authorization requests, which the service decides, and reported events. The signature over the raw body is verified first. Valid messages are exempt from the rate limit.',
  'A request is decided within `CARD_AUTH_TIMEOUT_MS`, by card, policy, risk and the intent that covers it; otherwise it is declined. A repeated message gets the same bytes. Reported events are booked in any order: the money is taken from the hold, then from the wallet; the owner owes the rest.',
].join('\n\n')

export const authorizationsApi = {
  /** Releases what the network did not clear in time. Changes nothing before that instant, or when it is repeated. */
  expire: internal.post('/rails/card-processor/authorizations/{id}/expire', {
    summary: 'Expire an authorization',
    run: 'hot',
    returns: [200, z.object({ expired: z.boolean() })],
    emits: { ...authorizationEvents, ...agentCredentialChargeEvents },
  }),
  notice: internal.post('/rails/card-processor/notices', {
    summary: 'Process the card processor’s notice about a card',
    body: messageOf<IncomingMessage<CardNotice>>(),
    returns: [200, ProcessorMessageAnswer],
    emits: cardNoticeEvents,
  }),
  take: internal.post('/rails/card-processor/messages', {
    summary: 'Process a message of the card processor',
    run: 'hot',
    body: messageOf<PaymentMessage>(),
    returns: [200, ProcessorMessageAnswer],
    emits: messageEvents,
  }),
  receive: post('/rails/card-processor', {
    summary: 'Receive a signed message of the card processor',
    description: webhookDescription,
    callers: ['signed'],
    body: z.strictObject({}),
    returns: [200, z.object({})],
    emits: messageEvents,
  }),
  list: readers.list('/cards/{id}/authorizations', {
    summary: 'List the authorizations of a card',
    description:
      'Newest first: every payment that the network requested or reported, including declined ones.',
    filters: {
      status: status.optional(),
      intentId: id('intent').optional(),
      merchant: searchTextSchema,
      ...timeRangeMembers,
    },
    item: AuthorizationRecord,
    fails: { card_not_found },
  }),
  get: readers.getOne(
    '/cards/{id}/authorizations/{authorizationId}',
    'an authorization of a card',
    AuthorizationRecord,
    { authorization_not_found },
  ),
  explanation: readers.get('/cards/{id}/authorizations/{authorizationId}/explanation', {
    summary: 'Explain an authorization',
    description:
      'Every rule in words, the source of the money, and what would have avoided a decline. Also accepts the network’s ID, which `POST /simulate/card/authorize` returns.',
    returns: [200, AuthorizationExplanation],
    fails: { authorization_not_found },
  }),
  simulate: readers.post('/cards/{id}/authorizations/simulate', {
    summary: 'Simulate a payment by card',
    description:
      'The same code decides as for a request of the network; nothing is stored or held. The answer names the intent that would cover the payment, and the source of the money.',
    run: 'read',
    readsClock: true,
    body: refuseCardNumbers(SimulatedRequest),
    example: { amountEuros: 25, merchant: 'SQ *BOOKSHOP 1234 BERLIN', mcc: '5942', country: 'DE' },
    returns: [200, SimulatedAnswer],
    fails: { card_not_found },
  }),
}
