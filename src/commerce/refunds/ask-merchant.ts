import type { Mode, Tenant } from '../../kernel/contract/actor.ts'
import type { Context } from '../../kernel/contract/context.ts'
import { AnswerNow } from '../../kernel/contract/handlers.ts'
import type { ContextOf, HandlerOf } from '../../kernel/contract/operation.ts'
import type { Ports } from '../../kernel/contract/ports.ts'
import { Problem } from '../../kernel/contract/problem.ts'
import type { Row, Sql } from '../../kernel/contract/sql.ts'
import { type RefundRow, type refundEvents, refundsById } from '../../money/refunds/index.ts'
import type { CardRefundOutcome, NewCardRefund, ProcessorFailure } from '../../ports/card-processor.ts'
import { after, backoff, minutes } from '../../values/clock.ts'
import { refundResponse, type refundsApi } from './api.ts'
import { lockRefund } from './end.ts'
import { refundProcess } from './process.ts'

/** A payment by card, as the processor that is to ask its merchant must know it. */
export interface PushablePayment extends Row {
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

/** Those of these payments of which the processor can ask the merchant for money; none, where it cannot, or there is none. */
export async function pushableOf(
  sql: Sql,
  tenant: Tenant,
  transactionIds: readonly string[],
  ports: Ports,
): Promise<ReadonlyMap<string, PushablePayment>> {
  if (transactionIds.length === 0 || !canPush(ports, tenant.mode)) return new Map()
  const rows = await sql<PushablePayment>(PUSHABLE, [tenant.ownerId, tenant.mode, transactionIds])
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

/** What the processor is asked: JSON, as it outlives a crash. */
export interface Push {
  readonly refundId: string
  readonly mode: Mode
  readonly now: string
  /** When the refund was asked for. */
  readonly since: string
  readonly cents: string
  readonly refund: Omit<NewCardRefund, 'amountEuros' | 'requestedAt'>
}

/** The refund waits for its merchant by now; the processor is to ask for it. */
export function pushOf(
  { processorRef, processorCardId, descriptor, mcc, country }: PushablePayment,
  call: Omit<Push, 'refund'>,
): Push {
  const merchant = { descriptor, mcc, country, url: null, networkTokenId: null }
  return { ...call, refund: { processorCardId, authorizationId: processorRef, merchant } }
}

/** Longer than a call takes, so that no two are under way for one refund. */
export const askAgainAt = (now: Date, attempts: number): Date =>
  after(now, backoff(minutes(1), attempts - 1, minutes(60)))

export type PushAnswer = CardRefundOutcome | ProcessorFailure

/** Asks under one reference, however often: so what became of a call whose answer was lost is told by the next one. */
export async function push(
  { refundId, mode, now, since, cents, refund }: Push,
  { ports, requestId }: { readonly ports: Ports; readonly requestId: string },
): Promise<PushAnswer> {
  const { pushRefund } = ports.cardProcessor(mode)
  const asked = { ...refund, amountEuros: BigInt(cents), requestedAt: new Date(since) }
  const call = { reference: `${refundId}/push`, requestId, now: new Date(now) }
  return (
    pushRefund?.(asked, call) ?? { failure: 'refused', code: 'cannot', message: 'It cannot ask merchants.' }
  )
}

type Noting = Context<never, Pick<typeof refundEvents, 'refund.failed'>>
type Creating = ContextOf<typeof refundsApi.create>

const isUnanswered = (answer: PushAnswer): boolean => 'failure' in answer && answer.failure !== 'refused'

/**
 * Notes what the processor has answered. The refund fails where the merchant declines; without an answer it stays due, and
 * where the processor will not ask, it waits for the money as one that only the owner can ask for. Null where nothing has
 * changed: the money may be there already.
 */
async function notePush(answer: PushAnswer, { refundId }: Push, context: Noting): Promise<RefundRow | null> {
  if (isUnanswered(answer)) return null
  const { row, refunds } = (await lockRefund(refundId, context)) ?? {}
  if (!row || !refunds) return null
  if ('status' in answer && answer.status === 'declined') {
    const message = `The merchant has declined: ${answer.message} Dispute the payment: POST /disputes.`
    refunds.fail(row, { code: 'declined', message }, context.emit)
  } else refunds.endAsking(row, 'status' in answer)
  context.wake(refundProcess, row)
  context.sendAlong(refunds.write(context.sql))
  return row
}

/** The refund after the processor has answered whoever asks for it. */
export async function recordPush(answer: PushAnswer, asked: Push, context: Creating) {
  const row = await notePush(answer, asked, context)
  return row ? refundResponse(row) : foundRefund(asked.refundId, context)
}

/** The refund as it stands: the credit may be there already. */
export async function foundRefund(id: string, { sql, tenant }: Pick<Creating, 'sql' | 'tenant'>) {
  const row = (await refundsById(sql, tenant, [id])).get(id)
  if (!row) throw new Error(`${id}: a refund that was asked for is gone`)
  return refundResponse(row)
}

const DONE = { done: true }

/** Asks once more where no answer was recorded. The due time moves before the call, so that no two call at once. */
export const askMerchant: HandlerOf<typeof refundsApi.askMerchant> = {
  async reserve({ params }, context) {
    const { now, tenant, sql, ports, refuse, sendAlong } = context
    const locked = await lockRefund(params.id, context)
    if (!locked) return refuse('refund_not_found')
    const { row, refunds } = locked
    if (!row?.askDueAt || row.askDueAt > now || !row.transactionId) return new AnswerNow(DONE)
    const payment = (await pushableOf(sql, tenant, [row.transactionId], ports)).get(row.transactionId)
    const attempts = row.attempts + 1
    if (payment) refunds.askAgain(row, attempts, askAgainAt(now, attempts))
    else refunds.endAsking(row, false)
    sendAlong(refunds.write(sql))
    if (!payment) return new AnswerNow(DONE)
    const call = { refundId: row.id, mode: tenant.mode, now: now.toISOString() }
    const asked = { since: row.createdAt.toISOString(), cents: String(row.amountEuros) }
    return pushOf(payment, { ...call, ...asked })
  },

  call: push,

  async record(answer: PushAnswer, asked: Push, context) {
    await notePush(answer, asked, context)
    return DONE
  },

  // It is due again: by the same reference the processor asks once.
  recover: async () => DONE,
}
