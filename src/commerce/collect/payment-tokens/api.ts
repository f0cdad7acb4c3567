import { z } from 'zod'
import { declareEvents, declareIntentRefusals, IntentEvent } from '../../../control/intents/index.ts'
import { internal, operationsFor } from '../../../kernel/contract/callers.ts'
import { declareEvent } from '../../../kernel/contract/events.ts'
import { notFound, type RefusalSpec } from '../../../kernel/contract/operation.ts'
import { secretMeta, shownOnceSchema } from '../../../kernel/run/outcome.ts'
import { purseRefusal } from '../../../money/wallets/index.ts'
import { refuseCardNumbers } from '../../../values/card-number.ts'
import { instant } from '../../../values/clock.ts'
import { id } from '../../../values/ids.ts'
import { moneySchema, positiveMoneySchema } from '../../../values/money.ts'
import { agentIdSchema, freeTextSchema, recordHead, recordTimestamps } from '../../../values/schemas.ts'
import { internalPaymentEvents } from '../../transfers/index.ts'
import { type PaymentTokenRow, paymentTokenMachine } from './payment-token.ts'

const PaymentTokenEvent = z.object({
  paymentTokenId: id('paymenttoken'),
  agentId: id('agent'),
  intentId: id('intent'),
  status: z.enum(paymentTokenMachine.states),
  amountCents: moneySchema,
  chargedCents: moneySchema.optional(),
  merchant: z.string().max(200).meta({ description: 'Public name of the owner who may charge the token.' }),
})

/** Sent to the owner who is paid, so it contains nothing of the other owner. */
const ChargeEvent = z.object({
  transactionId: id('txn'),
  walletId: id('wallet'),
  amountCents: moneySchema,
})

export const tokenChargeEvents = {
  'claim.payment_token.accepted': declareEvent(
    'A charge has been paid: the money is in the wallet, or on its way there.',
    ChargeEvent,
  ),
  'claim.payment_token.collected': declareEvent(
    'The money of a charge has been credited to its wallet.',
    ChargeEvent,
  ),
}

export const paymentTokenEvents = {
  'claim.payment_token.created': declareEvent('A payment token has been created.', PaymentTokenEvent),
  'claim.payment_token.approved': declareEvent(
    'A person has approved a payment token: it can be charged.',
    PaymentTokenEvent,
  ),
  'claim.payment_token.denied': declareEvent('A person has denied a payment token.', PaymentTokenEvent),
  'claim.payment_token.revoked': declareEvent(
    'A payment token has been revoked, or its intent was cancelled: its hold is released.',
    PaymentTokenEvent,
  ),
  'claim.payment_token.expired': declareEvent(
    'A payment token has expired uncharged: its hold is released.',
    PaymentTokenEvent,
  ),
  'claim.payment_token.charged': declareEvent('A payment token has been charged.', PaymentTokenEvent),
}

export const paymentTokenEvent = (token: PaymentTokenRow): z.output<typeof PaymentTokenEvent> => ({
  paymentTokenId: token.id,
  agentId: token.agentId,
  intentId: token.intentId,
  status: token.status,
  amountCents: token.amountCents,
  ...(token.chargedCents === null ? {} : { chargedCents: token.chargedCents }),
  merchant: token.recipientName,
})

const status = z.enum(paymentTokenMachine.states)

const TokenRecord = z
  .object({
    ...recordHead('paymenttoken'),
    agentId: id('agent'),
    delegationId: id('delegation').nullable(),
    intentId: id('intent').meta({
      description: 'The token’s intent, which its charge pays.',
    }),
    amountCents: moneySchema.meta({ description: 'Maximum amount that can be charged.' }),
    recipientWalletId: id('wallet'),
    recipientName: z.string().meta({
      description: 'Public name of that wallet’s owner, the only one who can charge the token.',
      examples: ['Adler GmbH'],
    }),
    status,
    hint: z.string().meta({ description: 'The last four characters of the token.', examples: ['uQxZ'] }),
    expiresAt: instant.meta({
      description: 'The time until which the token can be charged or, while `waiting`, approved.',
    }),
    chargedCents: moneySchema.nullable(),
    chargedAt: instant.nullable(),
    transactionId: id('txn').nullable().meta({ description: 'The payment, once the token is charged.' }),
    ...recordTimestamps,
  })
  .meta({ id: 'PaymentToken' })

const NewToken = TokenRecord.extend({
  token: shownOnceSchema('pt_9sVd1rYc8eJf3gLn6pAi5oKt0uQxZ4kQz0uT7hXw2mB'),
}).meta({ id: 'CreatedPaymentToken' })

const ChargeRecord = z
  .object({
    status: z.enum(['completed', 'pending']).meta({
      description: '`completed`: the money is in your wallet. Versions before 0.6.0 also answered `pending`.',
    }),
    agentId: id('agent'),
    walletId: id('wallet'),
    amountCents: moneySchema,
    transactionId: id('txn').meta({ description: 'The payment on your side.' }),
  })
  .meta({ id: 'PaymentTokenCharge' })

/** Shown to the owner of the wallet. Reveals nothing else about the payer. */
const chargeRefusals = {
  amount_exceeded: [400, 'amountEuros: it exceeds the token’s amount.'],
  token_waiting: [400, 'paymentToken: the token waits for approval on the payer’s side. Try again later.'],
  token_blocked: [
    400,
    'paymentToken: the token cannot be charged now: the payer has stopped the agent or its wallet, or the wallet has changed. Nothing was charged.',
  ],
  token_charged: [410, 'paymentToken: it has already been charged. Each can be charged once.'],
  token_denied: [410, 'paymentToken: it was denied on the payer’s side. Ask for another one.'],
  token_revoked: [410, 'paymentToken: the payer has revoked it. Ask for another one.'],
  token_expired: [410, 'paymentToken: it has expired. Ask for another one.'],
} as const satisfies Record<string, RefusalSpec>

export type TokenChargeRefusal = keyof typeof chargeRefusals

const chargeRefusalCodes = Object.keys(chargeRefusals) as [TokenChargeRefusal, ...TokenChargeRefusal[]]

const lookupRefusals = { token_not_found: notFound('payment token') }

const readers = operationsFor({ callers: ['key', 'agent'], scope: 'payment-tokens:read' })
const makers = operationsFor({ callers: ['key', 'agent'], scope: 'payment-tokens:write' })

const NO_NUMBER = 'Payment tokens accept no card numbers. Leave it out.'

export const paymentTokensApi = {
  create: makers.post('/collect/payment-tokens', {
    summary: 'Create a payment token for a wallet',
    description: [
      'The owner of the wallet can charge up to this amount from the agent’s wallet, once, with the token that is shown here. The wallet may belong to another owner: then that owner’s public name is the payee, and nothing else about that owner is shown.',
      'The token is an intent of the agent: its rules, limits, risk and budgets decide about the amount, which is held until the token is charged or ends. A denial is a 400 with the reason, and the denied intent is listed. If a person must approve, the token is `waiting` and cannot be charged before; `POST /intents/{id}/approve` with its `intentId` makes it `active`.',
      'The token can be charged for 15 minutes, from now or from the approval. Charging, expiry, `revoke` and cancelling the intent release the rest of the hold.',
    ].join('\n\n'),
    run: 'hot',
    body: refuseCardNumbers(
      z.strictObject({
        agentId: agentIdSchema,
        amountCents: positiveMoneySchema(),
        recipientWalletId: id('wallet').meta({ description: 'The wallet that is paid, of any owner.' }),
        purpose: freeTextSchema
          .min(1)
          .default('Payment by token')
          .meta({
            description: 'For your own use; not shown to the wallet’s owner.',
            examples: ['Report 17'],
          }),
        runId: id('run').nullable().default(null),
      }),
      NO_NUMBER,
    ),
    example: {
      agentId: 'agent_01jd8x2m4ye7k9v0c3q5r6t8wz',
      amountEuros: 5,
      recipientWalletId: 'wallet_01jd8x2m4ye7k9v0c3q5r6t8wz',
      purpose: 'Report 17',
    },
    returns: [201, NewToken],
    fails: {
      ...declareIntentRefusals,
      wallet_not_found: [404, 'recipientWalletId: no such wallet, or it cannot be paid.'],
      wallet_closed: [400, 'recipientWalletId: the wallet is closed.'],
      wallet_of_card: purseRefusal('recipientWalletId'),
      same_wallet: [400, 'recipientWalletId: this is the agent’s own wallet. Name another one.'],
      against_policy: [400, 'The agent’s policy does not allow this payment.'],
    },
    emits: {
      ...declareEvents,
      'claim.payment_token.created': paymentTokenEvents['claim.payment_token.created'],
    },
  }),
  list: readers.list('/collect/payment-tokens', {
    summary: 'List payment tokens',
    description: 'Payment tokens of your agents, newest first.',
    filters: {
      status: status.optional(),
      agentId: id('agent').optional(),
      recipientWalletId: id('wallet').optional(),
    },
    item: TokenRecord,
  }),
  get: readers.getOne('/collect/payment-tokens/{id}', 'a payment token', TokenRecord, lookupRefusals),
  revoke: makers.post('/collect/payment-tokens/{id}/revoke', {
    summary: 'Revoke a payment token',
    description: 'The token’s intent is also cancelled, and the hold is released.',
    run: 'hot',
    returns: [200, TokenRecord],
    fails: {
      ...lookupRefusals,
      token_over: [400, 'The token has already been charged, or has ended.'],
    },
    emits: {
      'intent.cancelled': IntentEvent,
      'claim.payment_token.revoked': paymentTokenEvents['claim.payment_token.revoked'],
    },
  }),
  charge: makers.post('/collect/agents/{id}/charge', {
    scope: 'collect:write',
    summary: 'Charge a payment token',
    description:
      'For the owner of the wallet that the token was made for; an agent charges tokens for its own wallet. `id` is the paying agent, which the token’s sender gave you. Charges this amount, up to the token’s amount, once: afterwards 410.\n\nThe money leaves the payer’s ledger and enters yours, like money from outside. You learn nothing else about the payer, and the payer only your name.',
    body: refuseCardNumbers(
      z.strictObject({
        paymentToken: z
          .string()
          .min(1)
          .max(200)
          .meta({ ...secretMeta, examples: ['pt_01jd8x2m4ye7k9v0c3q5r6t8wz'] }),
        amountCents: positiveMoneySchema(),
      }),
      NO_NUMBER,
    ),
    example: { paymentToken: 'pt_01jd8x2m4ye7k9v0c3q5r6t8wz', amountEuros: 4.5 },
    returns: [200, ChargeRecord],
    fails: {
      token_not_found: [404, 'paymentToken: this agent has no such token for one of your wallets.'],
      wallet_closed: [400, 'The wallet that the token was made for is closed.'],
      ...chargeRefusals,
    },
    emits: { 'claim.payment_token.accepted': tokenChargeEvents['claim.payment_token.accepted'] },
  }),
  /** The payer's part of a charge. It runs in the transaction of the charging request. */
  take: internal.post('/collect/payment-tokens/{id}/take', {
    summary: 'Debit the payer of a charged payment token',
    run: 'hot',
    body: z.strictObject({ chargeId: id('txn'), amountCents: positiveMoneySchema() }),
    example: { chargeId: 'txn_01jd8x2m4ye7k9v0c3q5r6t8wz', amountEuros: 4.5 },
    returns: [
      200,
      z.object({
        refusal: z.enum(chargeRefusalCodes).nullable(),
        message: z.string().nullable(),
      }),
    ],
    fails: lookupRefusals,
    emits: {
      ...internalPaymentEvents,
      'claim.payment_token.charged': paymentTokenEvents['claim.payment_token.charged'],
    },
  }),
}
