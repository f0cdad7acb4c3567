import type { Context } from '../../kernel/contract/context.ts'
import type { HandlerOf } from '../../kernel/contract/operation.ts'
import type { Row } from '../../kernel/contract/sql.ts'
import { readRefundableCents } from '../../money/refunds/index.ts'
import { clock } from '../../values/clock.ts'
import { formatMoney, sumOf } from '../../values/money.ts'
import { findEvidence } from '../evidence/index.ts'
import type { disputesApi } from './api.ts'
import {
  type Dispute,
  disputeDeadline,
  isDisputeUndecided,
  isUnauthorizedReason,
  MAX_DISPUTE_EVIDENCE,
  recordDisputeFact,
  scheduleProvisionalCredit,
  transactionDebitedAt,
} from './dispute.ts'
import {
  type DisputeReconcileContext,
  type LockedDispute,
  lockDispute,
  reconcileDispute,
} from './reconcile-dispute.ts'

export const updateDispute: HandlerOf<typeof disputesApi.update> = async ({ params, body }, context) => {
  const { refuse } = context
  const locked = await lockDispute(params.id, context)
  if (!locked) return refuse('dispute_not_found')
  const { dispute, transaction } = locked
  if (dispute.status !== 'open') return refuse('dispute_not_open', alreadyInStateMessage(dispute))
  const { reason = dispute.reason, amountCents, description = dispute.description } = body
  // The deadline counts from the dispute's creation. A new reason with a shorter deadline must still have
  // been in time then.
  if (dispute.createdAt > disputeDeadline(transactionDebitedAt(transaction), reason))
    return refuse('too_late')
  // The dispute does not count against its own amount, and what the merchant refunded of it is added.
  const refundable = await readRefundableCents(transaction, context)
  const most = sumOf([refundable, dispute.countedCents, dispute.refundedCents])
  if (amountCents !== undefined && amountCents > most)
    return refuse('amount_too_high', `amountEuros: only ${formatMoney(most)} of the payment is left.`)
  Object.assign(dispute, { reason, description, amountCents: amountCents ?? dispute.amountCents })
  scheduleProvisionalCredit(dispute, context)
  reconcileDispute(locked, context, { change: 'changed' })
  return dispute
}

export const alreadyInStateMessage = ({ status }: Pick<Dispute, 'status'>): string =>
  `The dispute is already ${status}.`

/** From here on the processor has the documents, and receives each only once. */
export function markDisputeSubmitted(locked: LockedDispute, context: DisputeReconcileContext): void {
  const { dispute } = locked
  Object.assign(dispute, { submittedAt: context.now, evidenceDueAt: null, remindAt: null })
  reconcileDispute(locked, context, { change: 'submitted' })
}

export const withdrawDispute: HandlerOf<typeof disputesApi.withdraw> = async ({ params }, context) => {
  const { now, refuse } = context
  const locked = await lockDispute(params.id, context)
  if (!locked) return refuse('dispute_not_found')
  const { dispute } = locked
  if (!isDisputeUndecided(dispute)) return refuse('dispute_ended', alreadyInStateMessage(dispute))
  recordDisputeFact(dispute, { id: 'withdrawal', type: 'withdrawn', at: now })
  reconcileDispute(locked, context)
  return dispute
}

/** The platform bears the burden of proof, so its finding states reasons and cannot be changed. */
export const recordLiabilityFinding: HandlerOf<typeof disputesApi.find> = async (
  { params, body },
  context,
) => {
  const { refuse } = context
  if (!(await actForOwnerOf(params.id, context))) return refuse('dispute_not_found')
  const locked = await lockDispute(params.id, context)
  if (!locked) return refuse('dispute_not_found')
  const { dispute } = locked
  if (!isUnauthorizedReason(dispute.reason)) return refuse('not_unauthorized')
  if (dispute.finding !== null) return refuse('found_already')
  dispute.finding = { ...body, at: context.now.toISOString() }
  scheduleProvisionalCredit(dispute, context)
  reconcileDispute(locked, context, {
    change: 'finding',
    reason: `${body.finding}: ${body.reasons}`.slice(0, 200),
  })
  return dispute
}

/** Evidence of any intent of the paying agent is accepted; the owner knows which one fits. */
export const addDisputeEvidence: HandlerOf<typeof disputesApi.addEvidence> = async (
  { params, body },
  context,
) => {
  const { refuse } = context
  const [locked, found] = await Promise.all([
    lockDispute(params.id, context),
    findEvidence(body.evidenceIds, context),
  ])
  if (!locked) return refuse('dispute_not_found')
  const { dispute } = locked
  if (dispute.status !== 'open') return refuse('dispute_not_open', alreadyInStateMessage(dispute))
  const ofAgent = found.filter(({ agentId }) => agentId === dispute.agentId)
  const missing = body.evidenceIds.find(id => !ofAgent.some(piece => piece.id === id))
  if (missing) return refuse('evidence_not_found')
  const evidenceIds = [...new Set([...dispute.evidenceIds, ...body.evidenceIds])]
  if (evidenceIds.length > MAX_DISPUTE_EVIDENCE) return refuse('too_much_evidence')
  dispute.evidenceIds = evidenceIds
  reconcileDispute(locked, context, { change: 'evidence' })
  return dispute
}

const OWNER = `
select d.owner_id as "ownerId", d.mode, coalesce(t.offset_ms, 0)::float8 as "offsetMs"
from disputes d left join tenant_clocks t on t.owner_id = d.owner_id and t.mode = d.mode
where d.id = $1`

interface Owner extends Row {
  readonly ownerId: string
  readonly mode: 'test' | 'live'
  readonly offsetMs: number
}

/** Switches an operator, who has no tenant, to the dispute's owner. False if there is no such dispute. */
async function actForOwnerOf(id: string, { sql, switchTenant }: Context): Promise<boolean> {
  const [found] = await sql<Owner>(OWNER, [id])
  if (!found) return false
  switchTenant({ ownerId: found.ownerId, mode: found.mode }, clock.tenant(found.offsetMs))
  return true
}
