import type { Euros } from '../../values/money.ts'
import { refundedEvent, type TransactionEmitter, transactionEvent } from './events.ts'
import { transactionMachine } from './transaction.ts'
import type { TransactionRow } from './transaction-rows.ts'

/**
 * Notes that a part of a completed payment, or the rest of it, has come back: its status tells which. A negative amount
 * takes back what had gone back and has come again.
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
  transactionMachine.move(transaction, isBack ? 'refunded' : 'completed')
  if (amountEuros > 0n) emit('transaction.refunded', refundedEvent(transaction, amountEuros))
  else emit('transaction.updated', transactionEvent(transaction))
}
