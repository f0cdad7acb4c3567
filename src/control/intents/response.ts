import {
  type Approver,
  approvalEventCounts,
  approvalProgressResponse,
  readAskedApprovers,
} from '../../identity/approvals/index.ts'
import type { SqlContext } from '../../kernel/contract/context.ts'
import type { IntentPayment } from '../../kernel/contract/payables.ts'
import type { Ports } from '../../kernel/contract/ports.ts'
import { withMembers } from '../../kernel/database/entity.ts'
import { requireFirst } from '../../values/collections.ts'
import { formatOriginal } from '../../values/original-amount.ts'
import { truncateText } from '../../values/schemas.ts'
import { type Intent, type IntentRow, intentMachine } from './intent.ts'

type PaymentsContext = SqlContext & Pick<Ports, 'service'>
type PayableIntent = Pick<Intent, 'id' | 'status'>
type ApprovedIntent = Pick<Intent, 'approval' | 'amountCents' | 'status'>

export async function paymentsOfIntents(
  intents: readonly PayableIntent[],
  { sql, tenant, service }: PaymentsContext,
): Promise<readonly IntentPayment[]> {
  const wasApproved = ({ status }: PayableIntent): boolean => status !== 'created' && status !== 'denied'
  const ids = intents.filter(wasApproved).map(({ id }) => id)
  return ids.length > 0 ? service.paymentsOn(ids, tenant, sql) : []
}

export type LatestIntentPayments = Awaited<ReturnType<typeof latestIntentPayments>>

export async function latestIntentPayments(
  intents: readonly (PayableIntent & ApprovedIntent)[],
  context: PaymentsContext,
) {
  const [payments, approvers] = await Promise.all([
    paymentsOfIntents(intents, context),
    readAskedApprovers(intents, intentMachine.initial, context),
  ])
  const latest = new Map(payments.toReversed().map(payment => [payment.intentId, payment]))
  return {
    responseOf: <T extends ApprovedIntent & { id: string }>(intent: T) =>
      withMembers(intent, {
        payment: latest.get(intent.id) ?? null,
        approval: intentApprovalProgress(intent, approvers),
      }),
  }
}

export async function intentResponses(intents: readonly Intent[], context: PaymentsContext) {
  const { responseOf } = await latestIntentPayments(intents, context)
  return intents.map(intent => responseOf(intent))
}

export async function intentResponse(intent: Intent, context: PaymentsContext) {
  return requireFirst(await intentResponses([intent], context))
}

/** What the API says of the approvals of several people. */
export const intentApprovalProgress = (
  { approval, amountCents, status }: ApprovedIntent,
  approvers: readonly Approver[],
) => approval && approvalProgressResponse(approval, { amountCents, isOpen: status === 'created', approvers })

/** `approvers`: who may approve now, of no matter unless it waits. */
export const unpaidIntentResponse = <T extends ApprovedIntent>(
  intent: T,
  approvers: readonly Approver[] = [],
) => withMembers(intent, { payment: null, approval: intentApprovalProgress(intent, approvers) })

/** Null if there is no more to say than the intent's status does. */
export function intentPaymentSentence(payment: IntentPayment): string | null {
  const { original } = payment
  const price = original && `The price is ${formatOriginal(original)}.`
  return [stateSentence(payment), price].filter(Boolean).join(' ') || null
}

function stateSentence({ status, reason }: IntentPayment): string | null {
  const why = reason ? ` ${reason.message}` : ''
  if (status === 'rejected') return `The payment was rejected, and the money was returned.${why}`
  if (status === 'returned') return `The payment was returned.${why}`
  if (status === 'cancelled') return `The payment was cancelled before it was submitted.${why}`
  if (status === 'completed') return null
  return reason ? `The payment is pending and waits.${why}` : 'The payment is pending.'
}

/** The person whose decision led to the status. A later event is not that person's act. */
const personOf = ({ status, decidedBy }: IntentRow): string | null =>
  decidedBy?.type === 'console' && (status === 'approved' || status === 'denied') ? decidedBy.id : null

const mandateOf = ({ status, decidedBy }: IntentRow): string | null =>
  decidedBy?.type === 'mandate' && status === 'approved' ? decidedBy.id : null

/** The data of an intent's event. It contains neither the purpose nor full texts. */
export function intentEvent(intent: IntentRow, reason?: string) {
  const { id, agentId, runId, delegationId, cardId, requestId, paymentTokenId } = intent
  const { status, amountCents, merchant, paymentWaits } = intent
  const personId = personOf(intent)
  const mandateId = mandateOf(intent)
  return {
    intentId: id,
    agentId,
    ...(runId ? { runId } : {}),
    ...(delegationId ? { delegationId } : {}),
    ...(cardId ? { cardId } : {}),
    ...(requestId ? { requestId } : {}),
    ...(paymentTokenId ? { paymentTokenId } : {}),
    ...(paymentWaits ? { paymentWaits } : {}),
    ...(personId ? { personId } : {}),
    ...(mandateId ? { mandateId } : {}),
    status,
    amountCents,
    merchant: truncateText(merchant),
    ...(reason ? { reason: truncateText(reason) } : {}),
  }
}

/** The data of an event about the approvals of several people. */
export function approvalEvent(intent: IntentRow, reason?: string) {
  const { approval, amountCents } = intent
  if (!approval) throw new Error(`${intent.id} has no approvals of several people`)
  return { ...intentEvent(intent, reason), ...approvalEventCounts(approval, amountCents) }
}
