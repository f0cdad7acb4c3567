import type { z } from 'zod'
import { findIntents, IntentEvent } from '../../../control/intents/index.ts'
import { area, type Reaction, reactionToAll, whenMemberPresent } from '../../../kernel/contract/area.ts'
import type { Context } from '../../../kernel/contract/context.ts'
import { bindHandlers } from '../../../kernel/contract/operation.ts'
import { definedOnly } from '../../../kernel/database/entity.ts'
import { getRecord } from '../../../kernel/database/get-record.ts'
import { IncomingCreditEvent, readCreditSenders } from '../../../money/incoming/index.ts'
import {
  insertTransactions,
  newCompletedTransaction,
  transactionEvents,
} from '../../../money/transactions/index.ts'
import { walletsById } from '../../../money/wallets/index.ts'
import { paymentTokenEvent, paymentTokenEvents, paymentTokensApi, tokenChargeEvents } from './api.ts'
import { chargePaymentToken, takePaymentTokenCharge } from './charge.ts'
import { createPaymentToken } from './create.ts'
import { lockPaymentTokens, PaymentToken, paymentTokenMachine, updatePaymentTokens } from './payment-token.ts'
import { revokePaymentToken } from './revoke.ts'

type TokenStatus = 'approved' | 'denied' | 'revoked' | 'expired'

/** A token follows its intent, which is approved, denied, cancelled or expired there. */
const onIntent = (status: TokenStatus): Reaction => {
  const name = `claim.payment_token.${status}` as const
  return whenMemberPresent(
    'paymentTokenId',
    reactionToAll(IntentEvent, { [name]: paymentTokenEvents[name] }, async (events, context) => {
      const { sql, tenant, now, emit, queueStatement } = context as Context<never, typeof paymentTokenEvents>
      const ids = events.flatMap(({ paymentTokenId }) => paymentTokenId ?? [])
      const tokens = [...(await lockPaymentTokens(sql, tenant, ids)).values()]
      const changed = tokens.filter(token =>
        paymentTokenMachine.move(token, status === 'approved' ? 'active' : status),
      )
      if (status === 'approved') {
        const intentIds = changed.map(({ intentId }) => intentId)
        const intents = await findIntents(sql, tenant, intentIds)
        for (const token of changed)
          token.expiresAt = intents.get(token.intentId)?.expiresAt ?? token.expiresAt
      }
      for (const token of changed) {
        token.updatedAt = now
        emit(name, paymentTokenEvent(token))
      }
      queueStatement(updatePaymentTokens(sql, tenant, changed))
    }),
  )
}

const { 'claim.payment_token.collected': collected } = tokenChargeEvents
const charged = { ...transactionEvents, 'claim.payment_token.collected': collected }

/** Creates the transaction of each charge together with the booking of its credit. */
async function recordCharges(
  events: readonly z.output<typeof IncomingCreditEvent>[],
  context: Context<never, typeof charged>,
): Promise<void> {
  const { sql, tenant, now, emit, queueStatement } = context
  const credits = events.filter(({ walletId }) => walletId !== null)
  if (credits.length === 0) return
  const [wallets, senders] = await Promise.all([
    walletsById(
      sql,
      tenant,
      credits.flatMap(({ walletId }) => walletId ?? []),
    ),
    readCreditSenders(
      sql,
      tenant,
      credits.map(({ creditId }) => creditId),
    ),
  ])
  const transactions = credits.map(credit => {
    const { creditId, amountCents } = credit
    const id = String(credit.payableId)
    const walletId = String(credit.walletId)
    emit('claim.payment_token.collected', { transactionId: id, walletId, amountCents })
    const witnesses = [{ type: 'credit', id: creditId, at: now.toISOString() }]
    const agentId = wallets.get(walletId)?.agentId ?? null
    const merchant = senders.get(creditId) ?? ''
    const members = { id, type: 'collect', walletId, agentId, amountCents, merchant, witnesses } as const
    return newCompletedTransaction(members, context)
  })
  queueStatement(insertTransactions(sql, transactions))
}

const onCredit: Reaction = {
  ...reactionToAll(IncomingCreditEvent, charged, recordCharges),
  concerns: ({ payableType }) => payableType === 'payment_token',
}

const paymentTokenReactions = {
  'intent.approved': onIntent('approved'),
  'intent.denied': onIntent('denied'),
  'intent.cancelled': onIntent('revoked'),
  'intent.expired': onIntent('expired'),
  'incoming.received': onCredit,
  'incoming.assigned': onCredit,
}

const paymentTokens = bindHandlers(paymentTokensApi, {
  create: createPaymentToken,
  revoke: revokePaymentToken,
  charge: chargePaymentToken,
  take: takePaymentTokenCharge,

  list: ({ query: { status, agentId, recipientWalletId } }, { page }) =>
    page(PaymentToken, definedOnly({ status, agentId, recipientWalletId })),

  get: getRecord(PaymentToken, 'token_not_found'),
})

export const paymentTokensArea = area(
  'Payment Tokens',
  'The right of another wallet’s owner to charge an agent’s wallet once.',
  paymentTokens,
  {
    entities: [PaymentToken],
    machines: [paymentTokenMachine],
    reactions: paymentTokenReactions,
  },
)
