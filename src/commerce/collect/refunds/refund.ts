import { Settled } from '../../../kernel/contract/handlers.ts'
import type { ContextOf, HandlerOf } from '../../../kernel/contract/operation.ts'
import { withMembers } from '../../../kernel/database/entity.ts'
import { PaymentRequest } from '../request.ts'
import type { RequestRow } from '../request-rows.ts'
import { requestResponse } from '../response.ts'
import type { refundsApi } from './api.ts'
import {
  beginRequestRefund,
  carryOutRefund,
  type OpenSteps,
  recordRefund,
  type StepAnswers,
} from './refund-steps.ts'
import { RequestRefund } from './request-refund.ts'

type Refunding = ContextOf<typeof refundsApi.refund>

/**
 * Holds what goes back, then asks the acquirer. A crash in between loses nothing: the process, or the sweep, asks under the
 * same references.
 */
export const refund: HandlerOf<typeof refundsApi.refund> = {
  async reserve({ params, body }, context) {
    const why = { reason: 'other', note: body.reason } as const
    const target = { requestId: params.id, amountEuros: body.amountEuros, ...why }
    const begun = await beginRequestRefund(target, context)
    if ('refusal' in begun) return begun.refusal
    return begun.isDone ? new Settled(answerOf(begun.request, begun.refunds, context)) : begun.steps
  },

  call: (steps: OpenSteps, outside) => carryOutRefund(steps, outside),

  async record(answers: StepAnswers, steps: OpenSteps, context) {
    await recordRefund(answers, steps, context)
    return found(steps, context)
  },

  recover: found,
}

const answerOf = (
  request: PaymentRequest | RequestRow,
  refunds: readonly RequestRefund[],
  context: Refunding,
) => withMembers(requestResponse(request, context), { refunds: [...refunds] })

/** The request and these refunds as they stand. */
async function found({ cards, refundIds }: OpenSteps, context: Refunding) {
  const { records } = context
  const [request, refunds] = await Promise.all([
    records.findOneOrFail(PaymentRequest, { id: cards.requestId }),
    records.find(RequestRefund, { id: { $in: refundIds } }, { orderBy: { id: 'asc' } }),
  ])
  return answerOf(request, refunds, context)
}
