import type { HandlerOf } from '../../kernel/contract/operation.ts'
import { type Refund, refundsById } from '../../money/refunds/index.ts'
import { type refundsApi, WAIT_DAYS } from './api.ts'
import { type Ending, lockRefund } from './lock-refund.ts'
import { refundProcess } from './process.ts'
import { refundResponse } from './schemas.ts'

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
