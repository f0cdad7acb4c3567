import { type FilterQuery, raw } from '@mikro-orm/core'
import type { z } from 'zod'
import type { Actor, Tenant } from '../../kernel/contract/actor.ts'
import { area } from '../../kernel/contract/area.ts'
import { contains, type SqlCondition } from '../../kernel/contract/conditions.ts'
import type { Context, EmitContext, ReadContext, SqlContext } from '../../kernel/contract/context.ts'
import { bindHandlers, type InputOf } from '../../kernel/contract/operation.ts'
import type { RunningService } from '../../kernel/contract/ports.ts'
import { question } from '../../kernel/contract/question.ts'
import { createdWithinCondition, idRangeCondition } from '../../kernel/database/created-within.ts'
import { statusCondition } from '../../kernel/database/deadline-rows.ts'
import { definedOnly, FOR_UPDATE, merchantCondition } from '../../kernel/database/entity.ts'
import { newId } from '../../values/ids.ts'
import { addCents, type Cents, cents, NO_CENTS, sumOf } from '../../values/money.ts'
import { truncateText } from '../../values/schemas.ts'
import {
  MAX_COUNTED_PAYMENTS,
  MAX_SEARCHED_PAYMENTS,
  type TransactionEvent,
  type transactionEvents,
  type transactionLifecycleEvents,
  transactionsApi,
} from './api.ts'
import {
  Transaction,
  type TransactionRow,
  transactionMachine,
  transactionsPersonalData,
} from './transaction.ts'

export type TransactionEmitter = Context<never, typeof transactionLifecycleEvents>['emit']

export const transactionEvent = (transaction: TransactionRow): z.output<typeof TransactionEvent> => ({
  transactionId: transaction.id,
  agentId: transaction.agentId,
  intentId: transaction.intentId,
  amountCents: transaction.amountCents,
  merchant: truncateText(transaction.merchant),
  status: transaction.status,
})

/** Zero if the rest of the payment was never captured. */
export const transactionRefundedEvent = (transaction: TransactionRow, refundCents: Cents) => ({
  ...transactionEvent(transaction),
  type: transaction.type,
  ...(refundCents > 0n ? { refundCents } : {}),
})

/**
 * A part of a completed payment, or its rest, has been returned, as its status shows. A negative amount
 * undoes a refund whose money was returned.
 */
export function refundTransaction(
  transaction: TransactionRow,
  amountCents: Cents,
  now: Date,
  emit: TransactionEmitter,
): void {
  transaction.refundedCents = addCents(transaction.refundedCents, amountCents)
  transaction.updatedAt = now
  const isBack = transaction.refundedCents === transaction.amountCents
  transactionMachine.move(transaction, isBack ? 'refunded' : 'completed')
  if (amountCents > 0n) emit('transaction.refunded', transactionRefundedEvent(transaction, amountCents))
  else emit('transaction.updated', transactionEvent(transaction))
}

type Step = 'settlement' | 'settled' | 'completed'

/** False if the current status does not allow it. Returned money is a refund instead. */
function moveTransaction(
  transaction: TransactionRow,
  to: Step,
  { emit }: EmitContext<typeof transactionEvents>,
): boolean {
  if (!transactionMachine.move(transaction, to)) return false
  emit(`transaction.${to}`, transactionEvent(transaction))
  return true
}

type CompletedPayment = Pick<TransactionRow, 'type' | 'walletId' | 'amountCents' | 'merchant'> &
  Partial<TransactionRow>

/** A transaction that completes at once, with the events of all its steps, for a group commit to insert. */
export function newCompletedTransaction(
  members: CompletedPayment,
  context: EmitContext<typeof transactionEvents>,
): TransactionRow {
  const { tenant, now, emit } = context
  const transaction: TransactionRow = {
    ...tenant,
    id: newId('txn'),
    createdAt: now,
    updatedAt: now,
    agentId: null,
    intentId: null,
    cardId: null,
    transferId: null,
    runId: null,
    status: transactionMachine.initial,
    currency: 'EUR',
    original: null,
    refundedCents: NO_CENTS,
    disputedCents: NO_CENTS,
    mcc: null,
    country: null,
    memo: null,
    declineReason: null,
    witnesses: [],
    ...members,
  }
  emit('transaction.created', transactionEvent(transaction))
  emit('transaction.authorization', transactionEvent(transaction))
  for (const step of ['settlement', 'settled', 'completed'] as const)
    moveTransaction(transaction, step, context)
  return transaction
}

/** The SQL condition that a transaction was made with a delegation, whose id it takes. */
export const madeWithDelegation = question<null, string>('transactions.made_with_delegation')

interface DelegatedReading extends SqlContext {
  readonly actor: Pick<Actor, 'delegationId'>
  readonly service: Pick<RunningService, 'ask'>
}

/** Limits a delegation's token to payments on intents that were declared with it. */
export async function delegationCondition(context: DelegatedReading): Promise<SqlCondition> {
  const { delegationId } = context.actor
  if (!delegationId) return {}
  const conditions = await context.service.ask(madeWithDelegation, null, context)
  return Object.fromEntries(conditions.map(condition => [raw(condition, [delegationId]), []]))
}

const IS_OPEN = 'id = any(array(select o.id from open_transactions o where (o.owner_id, o.mode) = (?, ?)))'

const byStatus = (status: Transaction['status'] | undefined, { ownerId, mode }: Tenant) =>
  statusCondition(status, {
    exceptional: ['declined', 'refunded'],
    open: ['authorization', 'settlement', 'settled'],
    isOpen: { [raw(IS_OPEN, [ownerId, mode])]: [] },
  })

type Filters = InputOf<typeof transactionsApi.summary>['query']

/** Above every id: they consist of lower-case letters, digits and an underscore. */
const AFTER_ALL_IDS = '~'

/** Merchants and amounts are searched without an index. This bounds the rows that are read for it. */
const AMONG_NEWEST = `id >= coalesce((select t.id from transactions t
  where (t.owner_id, t.mode) = (?, ?) and t.id < ? order by t.id desc offset ${MAX_SEARCHED_PAYMENTS - 1} limit 1), '')`

function searchCondition(
  { merchantContains, minAmountCents, maxAmountCents, to }: Filters,
  { ownerId, mode }: Tenant,
): FilterQuery<Transaction> & object {
  if (merchantContains === undefined && minAmountCents === undefined && maxAmountCents === undefined)
    return {}
  const before = idRangeCondition('txn', { from: undefined, to })?.$lt ?? AFTER_ALL_IDS
  return {
    ...(merchantContains !== undefined && { merchant: contains(merchantContains.trim()) }),
    amountCents: definedOnly({ $gte: minAmountCents, $lte: maxAmountCents }),
    [raw(AMONG_NEWEST, [ownerId, mode, before])]: [],
  }
}

async function conditionOf(query: Filters, context: ReadContext) {
  const { from, to, merchant, merchantContains, minAmountCents, maxAmountCents, status, ...filters } = query
  const created = await createdWithinCondition('txn', { from, to }, context)
  return {
    ...definedOnly({ ...filters, ...created }),
    ...byStatus(status, context.tenant),
    ...merchantCondition(merchant),
    ...searchCondition(query, context.tenant),
    ...(await delegationCondition(context)),
  }
}

const transactions = bindHandlers(transactionsApi, {
  list: async ({ query: { limit: _limit, cursor: _cursor, ...filters } }, context) =>
    context.page(Transaction, await conditionOf(filters, context)),

  async summary({ query }, context) {
    const rows = await context.tally(Transaction, await conditionOf(query, context), {
      by: 'status',
      sums: ['amountCents', 'refundedCents'],
      most: MAX_COUNTED_PAYMENTS,
    })
    const data = rows.map(({ key, count, sums: [amount = '0', refunded = '0'] }) => ({
      status: key as TransactionRow['status'],
      count,
      amountCents: cents(amount),
      refundedCents: cents(refunded),
    }))
    const count = data.reduce((sum, one) => sum + one.count, 0)
    return {
      count,
      amountCents: sumOf(data.map(({ amountCents }) => amountCents)),
      refundedCents: sumOf(data.map(({ refundedCents }) => refundedCents)),
      hasMore: count === MAX_COUNTED_PAYMENTS,
      data,
    }
  },

  async get({ params }, context) {
    const where = { id: params.id, ...(await delegationCondition(context)) }
    return (await context.em.findOne(Transaction, where)) ?? context.refuse('transaction_not_found')
  },

  async update({ params, body }, { em, emit, refuse }) {
    const transaction = await em.findOne(Transaction, { id: params.id }, FOR_UPDATE)
    if (!transaction) return refuse('transaction_not_found')
    transaction.memo = body.memo
    emit('transaction.updated', transactionEvent(transaction))
    return transaction
  },
})

export const transactionsArea = area(
  'Transactions',
  'Payments by any means: one record each.',
  transactions,
  { personal: transactionsPersonalData, entities: [Transaction], machines: [transactionMachine] },
)
