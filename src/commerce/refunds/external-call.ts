import { lockSpendingAgents } from '../../control/policies/index.ts'
import type { Mode, Tenant } from '../../kernel/contract/actor.ts'
import type { Context, ReadContext, SqlContext } from '../../kernel/contract/context.ts'
import { AnswerNow, type ExternalCallContext } from '../../kernel/contract/handlers.ts'
import { externalCall } from '../../kernel/contract/operation.ts'
import type { Ports } from '../../kernel/contract/ports.ts'
import { Problem } from '../../kernel/contract/problem.ts'
import type { Row, Sql } from '../../kernel/contract/sql.ts'
import {
  loadRefundBook,
  Refund,
  type RefundBook,
  type RefundRow,
  refundsById,
} from '../../money/refunds/index.ts'
import { lockTransactions } from '../../money/transactions/index.ts'
import type { CardRefundOutcome, NewCardRefund, ProcessorFailure } from '../../ports/card-processor.ts'
import { addMs, backoffDelay, minutes } from '../../values/clock.ts'
import { cents } from '../../values/money.ts'
import {
  type CardRefunds,
  dueCardRefunds,
  type RequestRefundOutcome,
  recordCardRefunds,
  sendCardRefunds,
} from '../collect/index.ts'
import { refundResponse, refundsApi } from './api.ts'
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
  ports: Ports,
): Promise<ReadonlyMap<string, CardRefundPayment>> {
  if (transactionIds.length === 0 || !canPush(ports, tenant.mode)) return new Map()
  const rows = await sql<CardRefundPayment>(PUSHABLE, [tenant.ownerId, tenant.mode, transactionIds])
  return new Map(rows.map(row => [row.transactionId, row]))
}

function canPush(ports: Ports, mode: Mode): boolean {
  try {
    return ports.cardProcessor(mode).pushRefund !== null
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
  readonly refund: Omit<NewCardRefund, 'amountCents' | 'requestedAt'>
}

/** The refund already waits for its merchant when the processor is asked. */
export function cardRefundCall(
  { processorRef, processorCardId, descriptor, mcc, country }: CardRefundPayment,
  call: Omit<CardRefundCall, 'refund'>,
): CardRefundCall {
  const merchant = { descriptor, mcc, city: null, country, url: null, networkTokenId: null }
  return { ...call, refund: { processorCardId, authorizationId: processorRef, merchant } }
}

/** Longer than a call takes, so that two calls for one refund never overlap. */
export const nextRefundCallAt = (now: Date, attempts: number): Date =>
  addMs(now, backoffDelay(minutes(1), attempts - 1, minutes(60)))

type PushAnswer = CardRefundOutcome | ProcessorFailure

/** Every repetition has the same reference, so the next call reveals the outcome of a lost answer. */
async function push(
  { refundId, mode, now, since, cents: amount, refund }: CardRefundCall,
  { ports, requestId }: ExternalCallContext,
): Promise<PushAnswer> {
  const { pushRefund } = ports.cardProcessor(mode)
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

type ExternalCall = { readonly push: CardRefundCall } | { readonly cards: CardRefunds }

export type RefundCallAnswer =
  | { readonly push: CardRefundCall; readonly answer: PushAnswer }
  | { readonly cards: CardRefunds; readonly outcomes: readonly RequestRefundOutcome[] }

export const callRefundSystem = async (
  ask: ExternalCall,
  outside: ExternalCallContext,
): Promise<RefundCallAnswer> =>
  'push' in ask
    ? { push: ask.push, answer: await push(ask.push, outside) }
    : { cards: ask.cards, outcomes: await sendCardRefunds(ask.cards, outside) }

type RecordContext = Context<never, (typeof refundsApi.ask)['emits']>

export const recordRefundAnswer = (answered: RefundCallAnswer, context: RecordContext): Promise<void> =>
  'push' in answered
    ? recordPush(answered.answer, answered.push, context)
    : recordCardRefunds(answered.outcomes, answered.cards, context)

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
async function recordPush(
  answer: PushAnswer,
  { refundId }: CardRefundCall,
  context: RecordContext,
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

export async function refundResponseById(id: string, { sql, tenant }: SqlContext) {
  const row = (await refundsById(sql, tenant, [id])).get(id)
  if (!row) throw new Error(`${id}: a refund that was asked for is gone`)
  return refundResponse(row)
}

const DONE = { done: true }

/**
 * Repeats a call whose answer was not recorded. Moves the due time before the call, so that two calls never
 * run at once.
 */
export const retryRefundCall = externalCall(refundsApi.ask, {
  async reserve({ params }, context) {
    const locked = await lockPendingRefund(params.id, context)
    if (!locked) return context.refuse('refund_not_found')
    const { known, row, refunds } = locked
    const asked = known.requestId
      ? await dueCardRefunds(known.requestId, context)
      : await dueMerchant(row, refunds, context)
    return asked ?? new AnswerNow(DONE)
  },

  call: callRefundSystem,

  async record(answered, _asked, context) {
    await recordRefundAnswer(answered, context)
    return DONE
  },

  // The refund is due again, and under the same reference it is made once.
  recover: async () => DONE,
})

async function dueMerchant(
  row: RefundRow | undefined,
  refunds: RefundBook,
  { sql, tenant, now, ports, queueStatement }: RecordContext,
): Promise<ExternalCall | undefined> {
  if (!row?.askDueAt || row.askDueAt > now || !row.transactionId) return undefined
  const payment = (await cardRefundPayments(sql, tenant, [row.transactionId], ports)).get(row.transactionId)
  const attempts = row.attempts + 1
  if (payment) refunds.askAgain(row, attempts, nextRefundCallAt(now, attempts))
  else refunds.endAsking(row, false)
  queueStatement(refunds.write(sql))
  if (!payment) return undefined
  const call = { refundId: row.id, mode: tenant.mode, now: now.toISOString() }
  return {
    push: cardRefundCall(payment, {
      ...call,
      since: row.createdAt.toISOString(),
      cents: String(row.amountCents),
    }),
  }
}
