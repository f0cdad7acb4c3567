import type { z } from 'zod'
import type { Context } from '../../kernel/contract/context.ts'
import type { Euros } from '../../values/money.ts'
import { excerpt } from '../../values/schemas.ts'
import type { cardPaymentEvents, TransactionEvent } from './api.ts'
import type { TransactionRow } from './transaction-rows.ts'

export type TransactionEmitter = Context<never, typeof cardPaymentEvents>['emit']

export const transactionEvent = (transaction: TransactionRow): z.output<typeof TransactionEvent> => ({
  transactionId: transaction.id,
  agentId: transaction.agentId,
  intentId: transaction.intentId,
  amountEuros: transaction.amountEuros,
  merchant: excerpt(transaction.merchant),
  status: transaction.status,
})

/** So much has come back by this refund; nothing, where the rest of the payment was never taken. */
export const refundedEvent = (transaction: TransactionRow, refundEuros: Euros) => ({
  ...transactionEvent(transaction),
  type: transaction.type,
  ...(refundEuros > 0n ? { refundEuros } : {}),
})
