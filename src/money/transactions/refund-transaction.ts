import type { Euros } from '../../values/money.ts'
import { type TransactionEmitter, transactionEvent } from './events.ts'
import { transactionMachine } from './transaction.ts'
import type { TransactionRow } from './transaction-rows.ts'

/**
 * Notes that a part of a completed payment, or all of it, has gone back; a negative amount, that what had gone back has
 * come again.
 */
export function refundTransaction(
  transaction: TransactionRow,
  amountEuros: Euros,
  now: Date,
  emit: TransactionEmitter,
): void {
  transaction.refundedEuros += amountEuros
  transaction.updatedAt = now
  const isBack = transaction.refundedEuros === transaction.amountEuros
  if (isBack && transactionMachine.move(transaction, 'refunded'))
    emit('transaction.refunded', transactionEvent(transaction))
  else {
    if (!isBack) transactionMachine.move(transaction, 'completed')
    emit('transaction.updated', transactionEvent(transaction))
  }
}
