import { isDeepStrictEqual } from 'node:util'
import type { TenantNow } from '../../kernel/contract/actor.ts'
import { newId } from '../../values/ids.ts'
import { type Cents, NO_CENTS, subtractCents } from '../../values/money.ts'
import {
  type TransactionOriginal,
  type TransactionRow,
  type TransactionStatus,
  type TransactionWitness,
  transactionMachine,
} from './transaction.ts'
import { type TransactionEmitter, transactionEvent, transactionRefundedEvent } from './transactions.ts'

export interface TransactionState {
  readonly type: 'card' | 'mpp' | 'refund' | 'transfer'
  readonly transferId: string | null
  readonly status: TransactionStatus
  readonly amountCents: Cents
  readonly refundedCents: Cents
  readonly intentId: string | null
  readonly declineReason: string | null
  /** Null for euros, and for payments that are always in euros. */
  readonly original: TransactionOriginal | null
}

type NewPayment = Pick<
  TransactionRow,
  'agentId' | 'cardId' | 'walletId' | 'runId' | 'merchant' | 'mcc' | 'country'
>

export function newTransaction(
  members: NewPayment,
  { type, status, amountCents, intentId, transferId, original }: TransactionState,
  { tenant, now }: TenantNow,
  emit: TransactionEmitter,
): TransactionRow {
  const transaction: TransactionRow = {
    ...tenant,
    ...members,
    id: newId('txn'),
    createdAt: now,
    updatedAt: now,
    type,
    intentId,
    transferId,
    status: transactionMachine.initial,
    currency: 'EUR',
    original,
    amountCents,
    refundedCents: NO_CENTS,
    disputedCents: NO_CENTS,
    memo: null,
    declineReason: null,
    witnesses: [],
  }
  emit('transaction.created', transactionEvent(transaction))
  if (status !== 'declined') emit('transaction.authorization', transactionEvent(transaction))
  return transaction
}

function stepsTo(from: TransactionStatus, to: TransactionStatus): TransactionStatus[] {
  const ways: TransactionStatus[][] = [[from]]
  const seen = new Set<TransactionStatus>([from])
  for (const way of ways) {
    const last = way.at(-1) as TransactionStatus
    if (last === to) return way.slice(1)
    for (const next of transactionMachine.table[last].filter(status => !seen.has(status))) {
      seen.add(next)
      ways.push([...way, next])
    }
  }
  return []
}

export function moveTransaction(
  transaction: TransactionRow,
  state: TransactionState,
  now: Date,
  emit: TransactionEmitter,
): boolean {
  const { status, ...members } = state
  const cameBack = subtractCents(state.refundedCents, transaction.refundedCents)
  const isSame =
    transaction.type === state.type &&
    transaction.amountCents === state.amountCents &&
    transaction.refundedCents === state.refundedCents &&
    transaction.intentId === state.intentId &&
    isDeepStrictEqual(transaction.original, state.original)
  if (isSame && transaction.status === status) return false
  Object.assign(transaction, members, { updatedAt: now })
  const steps = stepsTo(transaction.status, status)
  for (const step of steps) {
    transactionMachine.move(transaction, step)
    if (step === 'refunded') emit('transaction.refunded', transactionRefundedEvent(transaction, cameBack))
    else emit(`transaction.${step}`, transactionEvent(transaction))
  }
  if (cameBack > 0n && steps.at(-1) !== 'refunded')
    emit('transaction.refunded', transactionRefundedEvent(transaction, cameBack))
  else if (steps.length === 0) emit('transaction.updated', transactionEvent(transaction))
  return true
}

export function addTransactionWitness(transaction: TransactionRow, witness: TransactionWitness): boolean {
  const isKnown = transaction.witnesses.some(({ type, id }) => type === witness.type && id === witness.id)
  if (!isKnown) transaction.witnesses = [...transaction.witnesses, witness]
  return !isKnown
}
