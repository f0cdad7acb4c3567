import type Stripe from 'stripe'
import { z } from 'zod'
import {
  CALL_DONE,
  type CardDisputes,
  type DisputeEvidence,
  type DisputeReason,
  type NetworkDisputeDecision,
  type NewNetworkDispute,
  type OpenedNetworkDispute,
  type OpenNetworkDispute,
  type ProcessorCall,
  type ProcessorFailure,
} from '../../../ports/card-processor.ts'
import { minutes } from '../../../values/clock.ts'
import { type Cents, cents } from '../../../values/money.ts'
import { type StripeCaller, UNUSABLE_ANSWER } from './connection.ts'

type Params = Stripe.Issuing.DisputeCreateParams
type Evidence = NonNullable<Params['evidence']>

/** Stripe forgets a key a day after its first use at the earliest. */
const KEY_LASTS_MS = minutes(20 * 60)

const Opened = z
  .object({ id: z.string().min(1).max(200) })
  .transform(({ id }): OpenedNetworkDispute => ({ processorDisputeId: id, evidenceDueAt: null }))

const DisputeStatus = z.object({
  status: z.enum(['unsubmitted', 'submitted', 'won', 'lost', 'expired']),
  amount: z.int().min(0).transform(cents),
  balance_transactions: z.array(z.object({ amount: z.int() })).nullish(),
})

/** Stripe Issuing identifies disputes by the settled transaction; it has no call that withdraws one. */
export function stripeDisputes(ask: StripeCaller): CardDisputes {
  return {
    open: (dispute, call) => ask(stripe => open(stripe, dispute, call)),
    addEvidence: (known, evidence, call) => ask(stripe => addEvidence(stripe, known, evidence, call)),
    submit: (known, call) => ask(stripe => submit(stripe, known, call)),
    withdraw: known => ask(stripe => withdraw(stripe, known)),
    inquire: known => ask(stripe => inquire(stripe, known)),
  }
}

const NOT_SETTLED: ProcessorFailure = {
  failure: 'refused',
  code: 'not_settled',
  message: 'Stripe has no transaction of this payment: only a cleared payment can be disputed.',
}

/**
 * Opens a dispute once. If Stripe has forgotten the key, or the dispute was first opened with another amount,
 * it is looked up by the id in its metadata.
 */
async function open(
  stripe: Stripe,
  dispute: NewNetworkDispute,
  { reference, now }: ProcessorCall,
): Promise<OpenedNetworkDispute | ProcessorFailure> {
  const { disputeId, processorCardId, amountCents, openedAt, clearings } = dispute
  const clearing = clearings.find(one => one.amountCents >= amountCents) ?? clearings[0]
  if (!clearing) return NOT_SETTLED
  const isForgotten = now.getTime() - openedAt.getTime() > KEY_LASTS_MS
  const earlier = isForgotten ? await find(stripe, clearing.id, disputeId) : undefined
  if (earlier) return Opened.parse(earlier)
  const params: Params = {
    transaction: clearing.id,
    amount: Number(min(amountCents, clearing.amountCents)),
    evidence: evidenceOf(dispute, openedAt),
    metadata: { dispute_id: disputeId, card: processorCardId },
  }
  try {
    return Opened.parse(await stripe.issuing.disputes.create(params, { idempotencyKey: reference }))
  } catch (error) {
    if ((error as { rawType?: unknown }).rawType !== 'idempotency_error') throw error
    const made = await find(stripe, clearing.id, disputeId)
    return made ? Opened.parse(made) : UNUSABLE_ANSWER
  }
}

const min = (one: Cents, other: Cents): Cents => (one < other ? one : other)

async function find(stripe: Stripe, transaction: string, disputeId: string) {
  const made = await stripe.issuing.disputes.list({ transaction, limit: 100 })
  return made.data.find(({ metadata }) => metadata.dispute_id === disputeId)
}

/** The key of the upload is derived from the content: the same bytes are one file. */
async function addEvidence(
  stripe: Stripe,
  { processorDisputeId }: OpenNetworkDispute,
  evidence: DisputeEvidence,
  { reference, now }: ProcessorCall,
) {
  const { bundle, sha256, amountCents } = evidence
  const file = await stripe.files.create(
    {
      purpose: 'dispute_evidence',
      file: {
        data: Buffer.from(bundle),
        name: `evidence-${sha256.slice(0, 16)}.pdf`,
        type: 'application/pdf',
      },
    },
    { idempotencyKey: `${reference}/file/${sha256.slice(0, 16)}` },
  )
  const params = { amount: Number(amountCents), evidence: evidenceOf(evidence, now, file.id) }
  await stripe.issuing.disputes.update(processorDisputeId, params, {
    idempotencyKey: `${reference}/${sha256.slice(0, 16)}`,
  })
  return CALL_DONE
}

const stripeReasons = {
  unauthorized: 'fraudulent',
  fraud: 'fraudulent',
  not_received: 'not_received',
  not_as_described: 'merchandise_not_as_described',
  duplicate: 'duplicate',
  incorrect_amount: 'other',
  cancelled: 'canceled',
  credit_not_processed: 'other',
} as const satisfies Record<DisputeReason, string>

/** What Stripe requires for each reason, as far as the service knows it; the rest is in the bundle. */
function evidenceOf(
  { reason, description }: Pick<NewNetworkDispute, 'reason' | 'description'>,
  at: Date,
  fileId?: string,
): Evidence {
  const given = {
    explanation: description,
    ...(fileId === undefined ? {} : { additional_documentation: fileId }),
  }
  const seconds = Math.floor(at.getTime() / 1000)
  const product = { product_description: description, product_type: 'merchandise' as const }
  switch (stripeReasons[reason]) {
    case 'fraudulent':
      return { reason: 'fraudulent', fraudulent: given }
    case 'not_received':
      return { reason: 'not_received', not_received: { ...given, ...product, expected_at: seconds } }
    case 'merchandise_not_as_described':
      return {
        reason: 'merchandise_not_as_described',
        merchandise_not_as_described: { ...given, received_at: seconds },
      }
    case 'duplicate':
      return { reason: 'duplicate', duplicate: given }
    case 'canceled':
      return {
        reason: 'canceled',
        canceled: { ...given, ...product, canceled_at: seconds, cancellation_reason: description },
      }
    case 'other':
      return { reason: 'other', other: { ...given, ...product } }
  }
}

/** A submitted dispute is not submitted again: the key may be forgotten by then. */
async function submit(
  stripe: Stripe,
  { processorDisputeId }: OpenNetworkDispute,
  { reference }: ProcessorCall,
) {
  const { status } = DisputeStatus.parse(await stripe.issuing.disputes.retrieve(processorDisputeId))
  if (status === 'unsubmitted')
    await stripe.issuing.disputes.submit(processorDisputeId, {}, { idempotencyKey: reference })
  return CALL_DONE
}

/** A dispute that was not submitted expires by itself; any other needs a person at Stripe. */
async function withdraw(stripe: Stripe, { processorDisputeId }: OpenNetworkDispute) {
  const { status } = DisputeStatus.parse(await stripe.issuing.disputes.retrieve(processorDisputeId))
  if (status !== 'submitted') return CALL_DONE
  const message = `Stripe’s API cannot withdraw disputes. Ask Stripe’s support to withdraw ${processorDisputeId}.`
  return { failure: 'refused', code: 'ask_support', message } as const
}

async function inquire(
  stripe: Stripe,
  { processorDisputeId }: OpenNetworkDispute,
): Promise<NetworkDisputeDecision | ProcessorFailure> {
  const { data, success } = DisputeStatus.safeParse(
    await stripe.issuing.disputes.retrieve(processorDisputeId),
  )
  return success ? decisionOf(data) : UNUSABLE_ANSWER
}

function decisionOf({
  status,
  amount,
  balance_transactions,
}: Pick<
  z.output<typeof DisputeStatus>,
  'status' | 'amount' | 'balance_transactions'
>): NetworkDisputeDecision {
  if (status === 'won') return { status, amountCents: amount }
  if (status === 'lost' || status === 'expired') return { status }
  const paid = (balance_transactions ?? []).reduce((sum, one) => sum + one.amount, 0)
  return paid > 0 ? { status: 'credited', amountCents: cents(paid) } : { status: 'undecided' }
}
