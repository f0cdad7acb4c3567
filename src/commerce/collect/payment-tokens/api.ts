import { z } from 'zod'
import { declareEvents, declareRefusals, IntentEvent } from '../../../control/intents/index.ts'
import { get, list, missing, post } from '../../../kernel/contract/operation.ts'
import { purseRefusal } from '../../../money/wallets/index.ts'
import { withoutCardNumbers } from '../../../values/card-number.ts'
import { id } from '../../../values/ids.ts'
import { positiveEuros } from '../../../values/money.ts'
import { freeText, ownAgent } from '../../../values/schemas.ts'
import { recordPaymentEvents } from '../../transfers/index.ts'
import { chargeEvents, tokenEvents } from './events.ts'
import { ChargeRecord, chargeRefusalCodes, chargeRefusals, NewToken, status, TokenRecord } from './schemas.ts'

const notFound = { token_not_found: missing('payment token') }

const makers = { callers: ['key', 'agent'], scope: 'payment-tokens:write' } as const
const readers = { callers: ['key', 'agent'], scope: 'payment-tokens:read' } as const

const NO_NUMBER = 'A payment token takes none: leave it out.'

export const paymentTokensApi = {
  create: post('/collect/payment-tokens', {
    ...makers,
    summary: 'Make a payment token for a wallet',
    description: [
      'Whoever has the wallet can take up to this amount from the agent’s, once, with the token that is shown here. The wallet may be another owner’s: then that owner’s public name is the payee, and nothing else of theirs is shown.',
      'It is an intent of the agent: its rules, limits, risk and budgets decide about the amount, which is held until the token is charged or ends. What they deny is a 400 with the reason, and the denied intent is among the intents. Where a person has to approve, the token is `waiting`, and cannot be charged before; `POST /intents/{id}/approve` with its `intentId` makes it `active`.',
      'It can be charged for 15 minutes, from now or from the approval. Charging gives back what was not taken, and so do expiry, `revoke`, and cancelling the intent.',
    ].join('\n\n'),
    run: 'hot',
    body: withoutCardNumbers(
      z.strictObject({
        agentId: ownAgent,
        amountEuros: positiveEuros(),
        recipientWalletId: id('wallet').meta({ description: 'The wallet that is paid, of any owner.' }),
        purpose: freeText
          .min(1)
          .default('Payment by token')
          .meta({
            description: 'For you. The owner of the wallet is not shown it.',
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
      ...declareRefusals,
      wallet_not_found: [404, 'recipientWalletId: no such wallet, or it cannot be paid.'],
      wallet_closed: [400, 'recipientWalletId: the wallet is closed.'],
      wallet_of_card: purseRefusal('recipientWalletId'),
      same_wallet: [400, 'recipientWalletId: it is the agent’s own wallet.'],
      against_policy: [400, 'The agent’s policy does not allow it.'],
    },
    emits: { ...declareEvents, 'claim.payment_token.created': tokenEvents['claim.payment_token.created'] },
  }),
  list: list('/collect/payment-tokens', {
    ...readers,
    summary: 'List payment tokens',
    description: 'Those that your agents have made, newest first.',
    filters: {
      status: status.optional(),
      agentId: id('agent').optional(),
      recipientWalletId: id('wallet').optional(),
    },
    item: TokenRecord,
  }),
  get: get('/collect/payment-tokens/{id}', {
    ...readers,
    summary: 'Get a payment token',
    returns: [200, TokenRecord],
    fails: notFound,
  }),
  revoke: post('/collect/payment-tokens/{id}/revoke', {
    ...makers,
    summary: 'Revoke a payment token',
    description: 'Its intent is cancelled with it, and the money is free again.',
    run: 'hot',
    returns: [200, TokenRecord],
    fails: {
      ...notFound,
      token_over: [400, 'The token is charged already, or has ended.'],
    },
    emits: {
      'intent.cancelled': IntentEvent,
      'claim.payment_token.revoked': tokenEvents['claim.payment_token.revoked'],
    },
  }),
  charge: post('/collect/agents/{id}/charge', {
    summary: 'Charge a payment token',
    description:
      'For the owner of the wallet that the token was made for; an agent charges tokens for its own wallet. `id` is the agent that pays, as whoever gave you the token told you. It takes this amount, at most what the token is for, and once: afterwards 410. The money leaves the payer’s ledger and enters yours, as money from outside does. You learn nothing else of the payer, and the payer nothing of you but your name.',
    callers: ['key', 'agent'],
    scope: 'collect:write',
    body: withoutCardNumbers(
      z.strictObject({
        paymentToken: z
          .string()
          .min(1)
          .max(200)
          .meta({ examples: ['pt_01jd8x2m4ye7k9v0c3q5r6t8wz'] }),
        amountEuros: positiveEuros(),
      }),
      NO_NUMBER,
    ),
    example: { paymentToken: 'pt_01jd8x2m4ye7k9v0c3q5r6t8wz', amountEuros: 4.5 },
    returns: [200, ChargeRecord],
    fails: {
      token_not_found: [404, 'paymentToken: no token of this agent for a wallet of yours has it.'],
      wallet_closed: [400, 'The wallet that the token was made for is closed.'],
      ...chargeRefusals,
    },
    emits: { 'claim.payment_token.accepted': chargeEvents['claim.payment_token.accepted'] },
  }),
  /** The payer's side of a charge, in the transaction of the request that charges. */
  take: post('/collect/payment-tokens/{id}/take', {
    summary: 'Take what a payment token is charged',
    callers: [],
    run: 'hot',
    body: z.strictObject({ chargeId: id('txn'), amountEuros: positiveEuros() }),
    example: { chargeId: 'txn_01jd8x2m4ye7k9v0c3q5r6t8wz', amountEuros: 4.5 },
    returns: [
      200,
      z.object({
        refusal: z.enum(chargeRefusalCodes).nullable(),
        message: z.string().nullable(),
      }),
    ],
    fails: notFound,
    emits: {
      ...recordPaymentEvents,
      'claim.payment_token.charged': tokenEvents['claim.payment_token.charged'],
    },
  }),
}
