import { lockSpendingAgents } from '../../control/policies/index.ts'
import type { Mode, Tenant } from '../../kernel/contract/actor.ts'
import type { CallerContext, ReadContext, WriteContext } from '../../kernel/contract/context.ts'
import type { Systems } from '../../kernel/contract/ports.ts'
import { Problem } from '../../kernel/contract/problem.ts'
import type { Row, Sql } from '../../kernel/contract/sql.ts'
import { loadRefundBook, Refund, type RefundRow } from '../../money/refunds/index.ts'
import { lockTransactions } from '../../money/transactions/index.ts'
import type {
  CardProcessor,
  CardRefundOutcome,
  NewCardRefund,
  ProcessorFailure,
} from '../../ports/card-processor.ts'
import { addMs, backoffDelay, minutes } from '../../values/clock.ts'
import { cents } from '../../values/money.ts'
import type { refundSteps } from './api.ts'
import { refundProcess } from './process.ts'

export interface CardRefundPayment extends Row {
  readonly transactionId: string
  readonly processorRef: string
  readonly processorCardId: string
  readonly descriptor: string
  readonly mcc: string | null
  readonly country: string | null
}

const PUSHABLE = `
select a.transaction_id as "transactionId", a.processor_ref as "processorRef", a.descriptor, a.mcc, a.country,
  n.processor_card_id as "processorCardId"
from card_authorizations a
join lateral (
  select one.processor_card_id from card_numbers one
  where (one.owner_id, one.mode, one.card_id) = ($1, $2, a.card_id) order by one.id desc limit 1) n on true
where a.owner_id = $1 and a.mode = $2 and a.transaction_id = any($3::text[]) and a.processor_ref is not null`

export async function cardRefundPayments(
  sql: Sql,
  tenant: Tenant,
  transactionIds: readonly string[],
  systems: Systems,
): Promise<ReadonlyMap<string, CardRefundPayment>> {
  if (transactionIds.length === 0 || !canPush(systems, tenant.mode)) return new Map()
  const rows = await sql<CardRefundPayment>(PUSHABLE, [tenant.ownerId, tenant.mode, transactionIds])
  return new Map(rows.map(row => [row.transactionId, row]))
}

function canPush(systems: Systems, mode: Mode): boolean {
  try {
    return systems.cardProcessor(mode).pushRefund !== null
  } catch (error) {
    if (error instanceof Problem) return false
    throw error
  }
}

/** Plain JSON, since it must survive a crash. */
export interface CardRefundCall {
  readonly refundId: string
  readonly mode: Mode
  readonly now: string
  readonly since: string
  readonly cents: string
  /** The id of the HTTP request that asks the processor, or of the one that made the run ask. */
  readonly askedBy: string
  readonly refund: Omit<NewCardRefund, 'amountCents' | 'requestedAt'>
}

/** The refund already waits for its merchant when the processor is asked. */
export function cardRefundCall(
  { processorRef, processorCardId, descriptor, mcc, country }: CardRefundPayment,
  { id: refundId, amountCents, createdAt }: RefundRow,
  { tenant: { mode }, now, requestId: askedBy }: CallerContext,
): CardRefundCall {
  const merchant = { descriptor, mcc, city: null, country, url: null, networkTokenId: null }
  const refund = { processorCardId, authorizationId: processorRef, merchant }
  const times = { now: now.toISOString(), since: createdAt.toISOString() }
  return { refundId, mode, ...times, cents: String(amountCents), askedBy, refund }
}

/** Longer than a call takes, so that two calls for one refund never overlap. */
export const nextRefundCallAt = (now: Date, attempts: number): Date =>
  addMs(now, backoffDelay(minutes(1), attempts - 1, minutes(60)))

export type MerchantAnswer = CardRefundOutcome | ProcessorFailure

/** Every repetition has the same reference, so the next call reveals the outcome of a lost answer. */
export async function askMerchant(
  { refundId, now, since, cents: amount, askedBy: requestId, refund }: CardRefundCall,
  { pushRefund }: CardProcessor,
): Promise<MerchantAnswer> {
  const asked = { ...refund, amountCents: cents(amount), requestedAt: new Date(since) }
  const call = { reference: `${refundId}/push`, requestId, now: new Date(now) }
  return (
    pushRefund?.(asked, call) ?? {
      failure: 'refused',
      code: 'cannot',
      message: 'The processor cannot ask merchants.',
    }
  )
}

/** Locks the refund and the money it moves. `row` is undefined if the refund is no longer pending. */
export async function lockPendingRefund(id: string, { records, sql, tenant, now }: ReadContext) {
  const known = await records.findOne(Refund, { id })
  if (!known) return null
  const { agentId, transactionId } = known
  const transactionIds = transactionId ? [transactionId] : []
  // Locks the agent before the payment, since card money moves under the agent's lock.
  const [, , refunds] = await Promise.all([
    agentId ? lockSpendingAgents(sql, tenant, [agentId]) : undefined,
    lockTransactions(sql, tenant, transactionIds),
    loadRefundBook(sql, { tenant, now }, { transactionIds }),
  ])
  return { known, row: refunds.find(id), refunds }
}

/**
 * A declined refund fails. Without an answer it stays due. If the processor cannot ask, the refund waits for
 * the money, and only the owner can request it from the merchant.
 */
export async function recordMerchantAnswer(
  answer: MerchantAnswer,
  { refundId }: CardRefundCall,
  context: WriteContext<(typeof refundSteps.ask)['emits']>,
): Promise<void> {
  if ('failure' in answer && answer.failure !== 'refused') return
  const { row, refunds } = (await lockPendingRefund(refundId, context)) ?? {}
  if (!row || !refunds) return
  if ('status' in answer && answer.status === 'declined') {
    const message = `The merchant declined: ${answer.message} Dispute the payment: POST /disputes.`
    refunds.fail(row, { code: 'declined', message }, context.emit)
  } else refunds.endAsking(row, 'status' in answer)
  context.wake(refundProcess, row)
  context.queueStatement(refunds.write(context.sql))
}

/**
 * The request for the merchant; undefined where none is due. Moves the due time, so that two calls never run at once. Without a
 * processor that can ask, the refund only waits for the money.
 */
export async function reserveMerchantRequest(
  id: string,
  context: WriteContext,
): Promise<CardRefundCall | undefined> {
  const { sql, tenant, now, systems, queueStatement } = context
  const { row, refunds } = (await lockPendingRefund(id, context)) ?? {}
  // The acquirer is asked for the refund of a payment request.
  if (!row || !refunds || row.requestId) return undefined
  if (!row.askDueAt || row.askDueAt > now || !row.transactionId) return undefined
  const payment = (await cardRefundPayments(sql, tenant, [row.transactionId], systems)).get(row.transactionId)
  const attempts = row.attempts + 1
  if (payment) refunds.askAgain(row, attempts, nextRefundCallAt(now, attempts))
  else refunds.endAsking(row, false)
  queueStatement(refunds.write(sql))
  return payment && cardRefundCall(payment, row, context)
}
