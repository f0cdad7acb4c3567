import type { ReadContext, WriteContext } from '../../kernel/contract/context.ts'
import { Refund } from '../../money/refunds/index.ts'
import { formatMinute } from '../../values/minute.ts'
import { formatMoney } from '../../values/money.ts'
import {
  lockPaymentRequest,
  PaymentRequest,
  RequestPayment,
  scheduleRequestExpiry,
  writePaymentRequests,
} from '../payment-requests/index.ts'
import type { CollectSignal } from '../payment-requests/process.ts'
import type { collectSteps } from './api.ts'
import { Settlement } from './payment-required/settlement.ts'

/** Changes nothing before the deadline. A pending payment delays the expiry: once it ends, the request expires. */
export async function expirePaymentRequest(
  id: string,
  context: WriteContext<(typeof collectSteps.expire)['emits']>,
): Promise<void> {
  const { sql, tenant, now } = context
  const locked = await lockPaymentRequest(id, context)
  if (!locked || locked.request.expiresAt > now) return
  scheduleRequestExpiry(locked, context)
  await writePaymentRequests(sql, tenant, [locked])
}

function stateText(
  { status, paidCents, expiresAt, refundingCents }: PaymentRequest,
  isBeingPaid: boolean,
): string {
  if (refundingCents > 0n) return `${status}, ${formatMoney(refundingCents)} in pending refunds`
  if (status !== 'open') return status
  if (isBeingPaid) return 'open, a payment is under way'
  const part = paidCents > 0n ? `, ${formatMoney(paidCents)} received` : ''
  return `open until ${formatMinute(expiresAt)}${part}`
}

/** Since when the acquirer has not answered about a charge or a refund; a request has one charge at a time. */
async function unansweredSince(requestId: string, { em }: ReadContext): Promise<Date | null> {
  const isUnanswered = { requestId, attempts: { $gt: 0 } }
  const [charge, [refund]] = await Promise.all([
    em.findOne(Settlement, { ...isUnanswered, status: 'charging' }),
    em.find(
      Refund,
      { ...isUnanswered, status: 'pending', askDueAt: { $ne: null } },
      { orderBy: { createdAt: 'asc' }, limit: 1 },
    ),
  ])
  const since = [charge, refund].flatMap(one => one?.createdAt.getTime() ?? [])
  return since.length > 0 ? new Date(Math.min(...since)) : null
}

/** What the run of a request reads. Payer and purpose do not reach Temporal. */
export async function paymentRequestStatus(id: string, context: ReadContext) {
  const { em, now } = context
  const [request, underWay, [refund], doubtfulSince] = await Promise.all([
    em.findOne(PaymentRequest, { id }),
    em.findOne(RequestPayment, { requestId: id, status: 'under_way' }),
    em.find(
      Refund,
      { requestId: id, status: 'pending', askDueAt: { $ne: null } },
      { orderBy: { askDueAt: 'asc' }, limit: 1 },
    ),
    unansweredSince(id, context),
  ])
  if (!request) return undefined
  const { status, mode, amountCents, refundingCents, expiresAt } = request
  const isOpen = status === 'open'
  const isBeingPaid = isOpen && underWay !== null
  const refundDueAt = refund?.askDueAt ?? null
  const dueAt = isOpen ? request.dueAt : refundDueAt
  const deadline = isOpen ? expiresAt : refundDueAt
  const signals: CollectSignal[] = isOpen && !isBeingPaid ? ['cancel'] : []
  return {
    status,
    summary: `Request for ${formatMoney(amountCents)} in ${mode} mode: ${stateText(request, isBeingPaid)}`,
    closed: !isOpen && refundingCents === 0n,
    isBeingPaid,
    doubtfulSince: doubtfulSince?.toISOString() ?? null,
    dueInMs: dueAt && dueAt.getTime() - now.getTime(),
    /** The end of the time to pay, or the next check of a refund by card: a refund by SEPA is only waited for. */
    deadline: deadline && formatMinute(deadline),
    signals,
  }
}
