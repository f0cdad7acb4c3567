import { z } from 'zod'
import type { Failure } from '../../../kernel/contract/operation.ts'
import { shownOnce } from '../../../kernel/run/outcome.ts'
import { instant } from '../../../values/clock.ts'
import { id } from '../../../values/ids.ts'
import { euros } from '../../../values/money.ts'
import { recordHead, recordTail } from '../../../values/schemas.ts'
import { tokenMachine } from './payment-token.ts'

export const status = z.enum(tokenMachine.states)

export const TokenRecord = z
  .object({
    ...recordHead('paymenttoken'),
    agentId: id('agent'),
    delegationId: id('delegation').nullable(),
    intentId: id('intent').meta({
      description: 'The intent that it was made with, and that its charge pays.',
    }),
    amountEuros: euros.meta({ description: 'The most that can be charged.' }),
    recipientWalletId: id('wallet'),
    recipientName: z.string().meta({
      description: 'The public name of the owner of that wallet, who alone may charge it.',
      examples: ['Adler GmbH'],
    }),
    status,
    hint: z.string().meta({ description: 'The last four characters of the token.', examples: ['uQxZ'] }),
    expiresAt: instant.meta({
      description: 'Until then it can be charged; while it is `waiting`, until then a person can approve it.',
    }),
    chargedEuros: euros.nullable(),
    chargedAt: instant.nullable(),
    transactionId: id('txn').nullable().meta({ description: 'The payment, once it is charged.' }),
    ...recordTail,
  })
  .meta({ id: 'PaymentToken' })

export const NewToken = TokenRecord.extend({
  token: shownOnce('pt_9sVd1rYc8eJf3gLn6pAi5oKt0uQxZ4kQz0uT7hXw2mB'),
}).meta({ id: 'NewPaymentToken' })

export const ChargeRecord = z
  .object({
    status: z.enum(['completed', 'pending']).meta({
      description: '`completed`: the money is in your wallet. Versions before 0.6.0 also answered `pending`.',
    }),
    agentId: id('agent'),
    walletId: id('wallet'),
    amountEuros: euros,
    transactionId: id('txn').meta({ description: 'The payment on your side.' }),
  })
  .meta({ id: 'PaymentTokenCharge' })

/** Why a token cannot be charged, as the owner of the wallet learns it, and nothing else of the payer's. */
export const chargeRefusals = {
  amount_exceeded: [400, 'amountEuros: it is more than the token is for.'],
  token_waiting: [400, 'paymentToken: a person on the payer’s side has yet to approve it. Try again later.'],
  token_blocked: [
    400,
    'paymentToken: it cannot be paid now: the payer has stopped the agent or its wallet, or the wallet has changed. Nothing was taken.',
  ],
  token_charged: [410, 'paymentToken: it is charged already. A token is charged once.'],
  token_denied: [410, 'paymentToken: a person on the payer’s side has denied it. Ask for another one.'],
  token_revoked: [410, 'paymentToken: the payer has revoked it. Ask for another one.'],
  token_expired: [410, 'paymentToken: it has expired. Ask for another one.'],
} as const satisfies Record<string, Failure>

export type ChargeRefusal = keyof typeof chargeRefusals

export const chargeRefusalCodes = Object.keys(chargeRefusals) as [ChargeRefusal, ...ChargeRefusal[]]
