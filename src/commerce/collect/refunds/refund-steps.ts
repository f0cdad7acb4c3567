import type { Context } from '../../../kernel/contract/context.ts'
import type { ContextOf } from '../../../kernel/contract/operation.ts'
import type { Refusal } from '../../../kernel/contract/problem.ts'
import type { Euros } from '../../../values/money.ts'
import type { PaymentRequest } from '../request.ts'
import type { RequestRow } from '../request-rows.ts'
import type { refundsApi } from './api.ts'
import { beginRefunds, type RefundWords } from './begin-refund.ts'
import {
  askAcquirer,
  type CardRefundOutcome,
  type CardRefunds,
  cardRefundOf,
  settleCardRefunds,
} from './card-refunds.ts'
import { isBlocked, openRefund } from './open-refund.ts'
import { type RequestRefund, recordIdOf } from './request-refund.ts'

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
  readonly refundIds: readonly string[]
  /** Their ids among the refunds of all payments. */
  readonly recordIds: readonly string[]
}

export interface BegunRefund {
  readonly request: PaymentRequest | RequestRow
  readonly refunds: readonly RequestRefund[]
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
    const payment = payments.get(refund.paymentId)
    return payment?.way === 'card' ? [cardRefundOf(refund, payment)] : []
  })
  const steps = {
    cards: { requestId, mode: tenant.mode, now: now.toISOString(), refunds: cards },
    refundIds: refunds.map(({ id }) => id),
    recordIds: refunds.map(recordIdOf),
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
