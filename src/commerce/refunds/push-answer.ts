import type { Context } from '../../kernel/contract/context.ts'
import type { ContextOf } from '../../kernel/contract/operation.ts'
import { type RefundRow, type refundEvents, refundsById } from '../../money/refunds/index.ts'
import type { refundsApi } from './api.ts'
import { lockRefund } from './lock-refund.ts'
import { refundProcess } from './process.ts'
import type { Push, PushAnswer } from './push.ts'
import { refundResponse } from './schemas.ts'

type Noting = Context<never, Pick<typeof refundEvents, 'refund.failed'>>
type Creating = ContextOf<typeof refundsApi.create>

const isUnanswered = (answer: PushAnswer): boolean => 'failure' in answer && answer.failure !== 'refused'

/**
 * Notes what the processor has answered. The refund fails where the merchant declines; without an answer it stays due, and
 * where the processor will not ask, it waits for the money as one that only the owner can ask for. Null where nothing has
 * changed: the money may be there already.
 */
export async function notePush(
  answer: PushAnswer,
  { refundId }: Push,
  context: Noting,
): Promise<RefundRow | null> {
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
