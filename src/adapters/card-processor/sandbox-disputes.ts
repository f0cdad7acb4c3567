import type {
  CardDisputes,
  KnownDispute,
  NetworkDecision,
  OpenedDispute,
  ProcessorCall,
  ProcessorFailure,
} from '../../ports/card-processor.ts'
import { after, days, minutes } from '../../values/clock.ts'
import { disputeIdFor, isDispute, type Secrets } from './sandbox-numbers.ts'

const EVIDENCE_MS = days(7)
const SILENT_MS = minutes(60)

interface Decision {
  readonly afterMs: number
  readonly outcome: NetworkDecision
}

const lost: NetworkDecision = { status: 'lost' }
const won: NetworkDecision = { status: 'won', amountCents: null }
const credited: NetworkDecision = { status: 'credited', amountCents: null }

/** Documented at `POST /disputes`; `POST /simulate/card/dispute` decides a dispute of any other amount. */
const byAmount: ReadonlyMap<bigint, readonly Decision[]> = new Map([
  [9_201n, [{ afterMs: days(1), outcome: won }]],
  [9_202n, [{ afterMs: days(1), outcome: lost }]],
  [9_203n, [credit(credited), { afterMs: days(3), outcome: won }]],
  [9_204n, [credit(credited), { afterMs: days(3), outcome: lost }]],
])

function credit(outcome: NetworkDecision): Decision {
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

const UNDECIDED: NetworkDecision = { status: 'undecided' }

/** Stores nothing: decisions follow from amount and time. */
export function sandboxDisputes(secrets: Secrets): CardDisputes {
  const acknowledging = async ({ processorDisputeId }: KnownDispute) =>
    isDispute(secrets, processorDisputeId) ? ({ done: true } as const) : UNKNOWN
  return {
    async open({ disputeId, amountCents, openedAt }, { now }): Promise<OpenedDispute | ProcessorFailure> {
      if (amountCents === REFUSED_CENTS) return REFUSED_AMOUNT
      if (amountCents === SILENT_CENTS && now < after(openedAt, SILENT_MS)) return { failure: 'late' }
      return {
        processorDisputeId: disputeIdFor(secrets, disputeId),
        evidenceDueAt: after(openedAt, EVIDENCE_MS),
      }
    },
    addEvidence: acknowledging,
    submit: acknowledging,
    withdraw: acknowledging,
    inquire: async (dispute, call) =>
      isDispute(secrets, dispute.processorDisputeId) ? decidedBy(dispute, call) : UNKNOWN,
  }
}

function decidedBy({ amountCents, submittedAt }: KnownDispute, { now }: ProcessorCall): NetworkDecision {
  if (!submittedAt) return UNDECIDED
  const decisions = byAmount.get(amountCents) ?? []
  return decisions.findLast(({ afterMs }) => after(submittedAt, afterMs) <= now)?.outcome ?? UNDECIDED
}
