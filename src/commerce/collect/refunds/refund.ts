import type { Context } from '../../../kernel/contract/context.ts'
import { Settled } from '../../../kernel/contract/handlers.ts'
import type { ContextOf, HandlerOf } from '../../../kernel/contract/operation.ts'
import type { Refusal } from '../../../kernel/contract/problem.ts'
import { withMembers } from '../../../kernel/database/entity.ts'
import { Refund, type RefundRow } from '../../../money/refunds/index.ts'
import type { Euros } from '../../../values/money.ts'
import { PaymentRequest } from '../request.ts'
import type { RequestRow } from '../request-rows.ts'
import { requestResponse } from '../response.ts'
import type { refundsApi } from './api.ts'
import { beginRefunds, isBlocked, openRefund, type RefundWords } from './begin-refund.ts'
import {
  askAcquirer,
  type CardRefundOutcome,
  type CardRefunds,
  cardRefundOf,
  settleCardRefunds,
} from './card-refunds.ts'
import { refundIdOf, requestRefundIdOf, requestRefundResponse } from './request-refund.ts'

type Refunding = ContextOf<typeof refundsApi.refund>

/** What is to go back: of all payments of a request, or of the one that came by this source. */
export interface RefundTarget extends RefundWords {
  readonly requestId: string
  readonly sourceId?: string | undefined
  /** All that is left, where no amount is given. */
  readonly amountEuros?: Euros | undefined
}

/** What is left to do once the refunds are committed: JSON, as it outlives a crash. */
export interface OpenSteps {
  readonly cards: CardRefunds
  /** Their ids as the request shows them. */
  readonly refundIds: readonly string[]
}

export interface BegunRefund {
  readonly request: PaymentRequest | RequestRow
  readonly refunds: readonly RefundRow[]
  readonly steps: OpenSteps
  /** Whether nothing is left to do. */
  readonly isDone: boolean
}

export type StepAnswers = readonly CardRefundOutcome[]

/** Holds what goes back. A refusal says why nothing can; `isRefused` tells it from what has begun. */
export async function beginRequestRefund(
  { requestId, sourceId, amountEuros, ...why }: RefundTarget,
  context: Refunding,
): Promise<BegunRefund | { readonly refusal: Refusal }> {
  const { tenant, now, refuse } = context
  const opened = await openRefund({ id: requestId, sourceId }, amountEuros, context)
  if (isBlocked(opened)) return { refusal: refuse(...opened) }
  const refunds = await beginRefunds(opened, why, context)
  const payments = new Map(opened.parts.map(({ payment }) => [payment.id, payment]))
  const cards = refunds.flatMap(refund => {
    const payment = payments.get(refund.paymentId ?? '')
    return payment?.way === 'card' ? [cardRefundOf(refund, payment)] : []
  })
  const steps = {
    cards: { requestId, mode: tenant.mode, now: now.toISOString(), refunds: cards },
    refundIds: refunds.map(({ id }) => requestRefundIdOf(id)),
  }
  return { request: opened.locked.request, refunds, steps, isDone: cards.length === 0 }
}

/** Asks the acquirer, with no transaction open. */
export const carryOutRefund = (
  { cards }: OpenSteps,
  outside: Pick<Context, 'ports' | 'requestId'>,
): Promise<StepAnswers> => askAcquirer(cards, outside)

/** Records what came of it. */
export async function recordRefund(
  outcomes: StepAnswers,
  { cards }: OpenSteps,
  context: Refunding,
): Promise<void> {
  if (outcomes.length > 0) await settleCardRefunds(cards, outcomes, context)
}

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
  refunds: readonly (Refund | RefundRow)[],
  context: Refunding,
) => withMembers(requestResponse(request, context), { refunds: refunds.map(requestRefundResponse) })

/** The request and these refunds as they stand. */
async function found({ cards, refundIds }: OpenSteps, context: Refunding) {
  const { records } = context
  const [request, refunds] = await Promise.all([
    records.findOneOrFail(PaymentRequest, { id: cards.requestId }),
    records.find(Refund, { id: { $in: refundIds.map(refundIdOf) } }, { orderBy: { id: 'asc' } }),
  ])
  return answerOf(request, refunds, context)
}
