import type { ReadContext, WriteContext } from '../../kernel/contract/context.ts'
import { Refund } from '../../money/refunds/index.ts'
import { formatMinute } from '../../values/minute.ts'
import { formatMoney } from '../../values/money.ts'
import { MAX_REFUND_WAIT_DAYS, type refundSteps } from './api.ts'
import { lockRefunds } from './locked-refunds.ts'
import { type RefundSignal, refundProcess } from './process.ts'

const EXPIRED_REASON = {
  code: 'not_credited',
  message: `The merchant did not send the money within ${MAX_REFUND_WAIT_DAYS} days. Dispute the payment: POST /disputes.`,
}

/** Changes nothing before the deadline, by the tenant's clock. */
export async function expireRefund(
  id: string,
  context: WriteContext<(typeof refundSteps.expire)['emits']>,
): Promise<void> {
  const { sql, now, emit, wake, queueStatement } = context
  const { refunds } = await lockRefunds({ ids: [id] }, context)
  const row = refunds.find(id)
  if (row?.status !== 'pending' || !row.dueAt || row.dueAt > now) return
  refunds.fail(row, EXPIRED_REASON, emit)
  wake(refundProcess, row)
  queueStatement(refunds.write(sql))
}

/** What the run of a refund reads. */
export async function refundStatus(id: string, { em, now }: ReadContext) {
  const refund = await em.findOne(Refund, { id })
  if (!refund) return undefined
  const { status, mode, amountCents, arrivedCents, dueAt, askDueAt, attempts, createdAt } = refund
  const closed = status !== 'pending'
  const part = arrivedCents > 0n && !closed ? `, ${formatMoney(arrivedCents)} received` : ''
  const mustBeAsked = askDueAt !== null && dueAt !== null && askDueAt < dueAt
  const nextAt = mustBeAsked ? askDueAt : dueAt
  const signals: RefundSignal[] = closed ? [] : ['cancel']
  return {
    status,
    summary: `Refund of ${formatMoney(amountCents)} in ${mode} mode: ${status}${part}`,
    closed,
    /** The merchant, by the processor of the card. */
    mustBeAsked,
    doubtfulSince: !closed && askDueAt && attempts > 0 ? createdAt.toISOString() : null,
    dueInMs: closed || !nextAt ? null : nextAt.getTime() - now.getTime(),
    deadline: dueAt && formatMinute(dueAt),
    signals,
  }
}
