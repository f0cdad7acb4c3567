import { NextCall } from '../../kernel/contract/handlers.ts'
import type { ContextOf } from '../../kernel/contract/operation.ts'
import type { Refusal } from '../../kernel/contract/problem.ts'
import { Refund, type RefundRow } from '../../money/refunds/index.ts'
import { beginRequestRefund, type OpenSteps, refundIdOf } from '../collect/index.ts'
import type { refundsApi } from './api.ts'
import type { Push } from './push.ts'
import { refundResponse } from './schemas.ts'

type Creating = ContextOf<typeof refundsApi.create>

/** A refund of what was paid to a request: JSON, as it outlives a crash. */
export interface AskedOfRequest {
  readonly transactionId: string
  readonly requestId: string
  readonly sourceId: string
  readonly cents: string | null
  readonly reason: NonNullable<RefundRow['reason']>
  readonly note: string | null
}

/** What was reserved: nothing is moved yet, or the refund has begun and its money is held. */
export type Reservation =
  | { readonly asked: AskedOfRequest }
  | { readonly steps: OpenSteps }
  | { readonly push: Push }

/** Begins the refund as the request's own operation does; a call follows where somebody else must be asked. */
export async function begin(
  { requestId, sourceId, cents, reason, note }: AskedOfRequest,
  context: Creating,
): Promise<ReturnType<typeof refundResponse> | NextCall<Reservation> | Refusal> {
  const amountEuros = cents === null ? undefined : BigInt(cents)
  const begun = await beginRequestRefund({ requestId, sourceId, amountEuros, reason, note }, context)
  if ('refusal' in begun) return begun.refusal
  return begun.isDone ? found(begun.steps, context) : new NextCall({ steps: begun.steps })
}

/** The refund as it stands. What this transaction has written of it is sent before. */
export async function found({ refundIds: [id = ''] }: OpenSteps, { records }: Creating) {
  return refundResponse(await records.findOneOrFail(Refund, { id: refundIdOf(id) }))
}
