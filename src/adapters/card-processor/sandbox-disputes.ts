import {
  CALL_DONE,
  type CardDisputes,
  type NetworkDisputeDecision,
  type OpenedNetworkDispute,
  type OpenNetworkDispute,
  type ProcessorCall,
  type ProcessorFailure,
} from '../../ports/card-processor.ts'
import { addMs, days, minutes } from '../../values/clock.ts'
import { isSandboxDisputeId, type ProcessorSecrets, sandboxDisputeId } from './sandbox-numbers.ts'

const EVIDENCE_MS = days(7)
const SILENT_MS = minutes(60)

interface Decision {
  readonly afterMs: number
  readonly outcome: NetworkDisputeDecision
}

const lost: NetworkDisputeDecision = { status: 'lost' }
const won: NetworkDisputeDecision = { status: 'won', amountCents: null }
const credited: NetworkDisputeDecision = { status: 'credited', amountCents: null }

/** Documented at `POST /disputes`; `POST /simulate/card/dispute` decides a dispute of any other amount. */
const byAmount: ReadonlyMap<bigint, readonly Decision[]> = new Map([
  [9_201n, [{ afterMs: days(1), outcome: won }]],
  [9_202n, [{ afterMs: days(1), outcome: lost }]],
  [9_203n, [credit(credited), { afterMs: days(3), outcome: won }]],
  [9_204n, [credit(credited), { afterMs: days(3), outcome: lost }]],
])

function credit(outcome: NetworkDisputeDecision): Decision {
  return { afterMs: 0, outcome }
}

const REFUSED_CENTS = 9_205n
const SILENT_CENTS = 9_206n

const REFUSED_AMOUNT: ProcessorFailure = {
  failure: 'refused',
  code: 'not_disputable',
  message: 'The sandbox refuses disputes of this amount.',
}

const UNKNOWN: ProcessorFailure = {
  failure: 'refused',
  code: 'unknown_dispute',
  message: 'The sandbox has not opened this dispute.',
}

const UNDECIDED: NetworkDisputeDecision = { status: 'undecided' }

/** Stores nothing: decisions follow from amount and time. */
export function sandboxDisputes(secrets: ProcessorSecrets): CardDisputes {
  const acknowledging = async ({ processorDisputeId }: OpenNetworkDispute) =>
    isSandboxDisputeId(secrets, processorDisputeId) ? CALL_DONE : UNKNOWN
  return {
    async open(
      { disputeId, amountCents, openedAt },
      { now },
    ): Promise<OpenedNetworkDispute | ProcessorFailure> {
      if (amountCents === REFUSED_CENTS) return REFUSED_AMOUNT
      if (amountCents === SILENT_CENTS && now < addMs(openedAt, SILENT_MS)) return { failure: 'late' }
      return {
        processorDisputeId: sandboxDisputeId(secrets, disputeId),
        evidenceDueAt: addMs(openedAt, EVIDENCE_MS),
      }
    },
    addEvidence: acknowledging,
    submit: acknowledging,
    withdraw: acknowledging,
    inquire: async (dispute, call) =>
      isSandboxDisputeId(secrets, dispute.processorDisputeId) ? decidedBy(dispute, call) : UNKNOWN,
  }
}

function decidedBy(
  { amountCents, submittedAt }: OpenNetworkDispute,
  { now }: ProcessorCall,
): NetworkDisputeDecision {
  if (!submittedAt) return UNDECIDED
  const decisions = byAmount.get(amountCents) ?? []
  return decisions.findLast(({ afterMs }) => addMs(submittedAt, afterMs) <= now)?.outcome ?? UNDECIDED
}
