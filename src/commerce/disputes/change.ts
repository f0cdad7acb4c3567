import type { HandlerOf } from '../../kernel/contract/operation.ts'
import { refundableOf } from '../../money/refunds/index.ts'
import { formatEuros } from '../../values/money.ts'
import type { disputesApi } from './api.ts'
import { debitedAt } from './create.ts'
import { planCredit } from './credit.ts'
import { type Dispute, disputableUntil, isUnauthorized, isUndecided } from './dispute.ts'
import { actForOwnerOf } from './find.ts'
import { lockDispute } from './lock-dispute.ts'
import { withWord } from './money/standing.ts'
import { type Settling, settle } from './settle.ts'

export const update: HandlerOf<typeof disputesApi.update> = async ({ params, body }, context) => {
  const { refuse } = context
  const locked = await lockDispute(params.id, context)
  if (!locked) return refuse('dispute_not_found')
  const { dispute, transaction } = locked
  if (dispute.status !== 'open') return refuse('dispute_not_open', stateOf(dispute))
  const { reason = dispute.reason, amountEuros, description = dispute.description } = body
  // It is in time where it was begun in time: only a reason that has less of it could not have been given then.
  if (dispute.createdAt > disputableUntil(debitedAt(transaction), reason)) return refuse('too_late')
  // What the dispute itself takes up is free for it; what the merchant has refunded of it comes on top.
  const most = (await refundableOf(transaction, context)) + dispute.countedEuros + dispute.refundedEuros
  if (amountEuros !== undefined && amountEuros > most)
    return refuse('amount_too_high', `amountEuros: ${formatEuros(most)} are left of the payment.`)
  Object.assign(dispute, { reason, description, amountEuros: amountEuros ?? dispute.amountEuros })
  planCredit(dispute, context)
  settle(locked, context, { change: 'changed' })
  return dispute
}

export const stateOf = ({ status }: Pick<Dispute, 'status'>): string => `The dispute is ${status} already.`

/** From here on it lies with the processor: what it gets, it gets once. */
export function handIn(locked: Parameters<typeof settle>[0], context: Settling): void {
  const { dispute } = locked
  Object.assign(dispute, { submittedAt: context.now, evidenceDueAt: null, remindAt: null })
  settle(locked, context, { change: 'submitted' })
}

export const withdraw: HandlerOf<typeof disputesApi.withdraw> = async ({ params }, context) => {
  const { now, refuse } = context
  const locked = await lockDispute(params.id, context)
  if (!locked) return refuse('dispute_not_found')
  const { dispute } = locked
  if (!isUndecided(dispute)) return refuse('dispute_ended', stateOf(dispute))
  dispute.words = withWord(dispute.words, {
    id: 'withdrawal',
    says: 'withdrawn',
    at: now.toISOString(),
    cents: null,
  })
  settle(locked, context)
  return dispute
}

/** The burden of proof lies with the platform, so its finding names its reasons, and stands. */
export const find: HandlerOf<typeof disputesApi.find> = async ({ params, body }, context) => {
  const { refuse } = context
  if (!(await actForOwnerOf(params.id, context))) return refuse('dispute_not_found')
  const locked = await lockDispute(params.id, context)
  if (!locked) return refuse('dispute_not_found')
  const { dispute } = locked
  if (!isUnauthorized(dispute.reason)) return refuse('not_unauthorized')
  if (dispute.finding !== null) return refuse('found_already')
  dispute.finding = { ...body, at: context.now.toISOString() }
  planCredit(dispute, context)
  settle(locked, context, { change: 'finding', reason: `${body.finding}: ${body.reasons}`.slice(0, 200) })
  return dispute
}
