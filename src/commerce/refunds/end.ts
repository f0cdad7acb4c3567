import { lockSpenders } from '../../control/policies/index.ts'
import type { Context } from '../../kernel/contract/context.ts'
import type { HandlerOf } from '../../kernel/contract/operation.ts'
import { openRefunds, Refund, type RefundRow, type Refunds, refundsById } from '../../money/refunds/index.ts'
import { lockTransactions } from '../../money/transactions/index.ts'
import { refundResponse, type refundsApi, WAIT_DAYS } from './api.ts'
import { refundProcess } from './process.ts'

type Ending = Pick<Context, 'records' | 'sql' | 'tenant' | 'now'>

/** A refund with the lock under which its money comes; `row` is undefined where it is not awaited any more. */
interface LockedRefund {
  readonly known: Refund
  readonly row: RefundRow | undefined
  readonly refunds: Refunds
}

export async function lockRefund(
  id: string,
  { records, sql, tenant, now }: Ending,
): Promise<LockedRefund | null> {
  const known = await records.findOne(Refund, { id })
  if (!known) return null
  const { agentId, transactionId } = known
  const transactionIds = transactionId ? [transactionId] : []
  // The agent before the payment: money of cards comes under its lock.
  const [, , refunds] = await Promise.all([
    agentId ? lockSpenders(sql, tenant, [agentId]) : undefined,
    lockTransactions(sql, tenant, transactionIds),
    openRefunds(sql, { tenant, now }, { transactionIds }),
  ])
  return { known, row: refunds.find(id), refunds }
}

export const cancel: HandlerOf<typeof refundsApi.cancel> = async ({ params }, context) => {
  const { sql, emit, wake, refuse, sendAlong } = context
  const locked = await lockRefund(params.id, context)
  if (!locked) return refuse('refund_not_found')
  const { known, row, refunds } = locked
  if (!row) return refuse('refund_not_pending', `The refund is ${await statusOf(known, context)} already.`)
  if (row.workflowId === null) return refuse('refund_under_way')
  refunds.cancel(row, emit)
  wake(refundProcess, row)
  sendAlong(refunds.write(sql))
  return refundResponse(row)
}

/** It may have ended while its lock was waited for. */
const statusOf = async ({ id }: Refund, { sql, tenant }: Ending): Promise<string> =>
  (await refundsById(sql, tenant, [id])).get(id)?.status ?? 'gone'

const GIVEN_UP = {
  code: 'not_credited',
  message: `The merchant has not sent the money within ${WAIT_DAYS} days. Dispute the payment: POST /disputes.`,
}

export const expire: HandlerOf<typeof refundsApi.expire> = async ({ params }, context) => {
  const { sql, now, emit, wake, refuse, sendAlong } = context
  const locked = await lockRefund(params.id, context)
  if (!locked) return refuse('refund_not_found')
  const { row, refunds } = locked
  if (row?.dueAt && row.dueAt <= now) {
    refunds.fail(row, GIVEN_UP, emit)
    wake(refundProcess, row)
    sendAlong(refunds.write(sql))
  }
  return { done: true }
}
