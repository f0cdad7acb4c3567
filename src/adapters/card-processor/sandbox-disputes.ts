import type {
  CardDisputes,
  DisputeStanding,
  KnownDispute,
  OpenedDispute,
  ProcessorCall,
  ProcessorFailure,
} from '../../ports/card-processor.ts'
import { after, days, minutes } from '../../values/clock.ts'
import { type Cents, cents } from '../../values/money.ts'
import { disputeIdFor, isDispute, type Secrets } from './sandbox-numbers.ts'

const EVIDENCE_MS = days(7)
/** How long the sandbox does not answer for the dispute of € 92.06. */
const SILENT_MS = minutes(60)

interface Decision {
  readonly afterMs: number
  readonly standing: DisputeStanding
}

const lost: DisputeStanding = { status: 'lost' }
const won: DisputeStanding = { status: 'won', amountCents: null }
const credited: DisputeStanding = { status: 'credited', amountCents: null }

/** Documented at `POST /disputes`; `POST /simulate/card/dispute` decides a dispute of any other amount. */
const byAmount: ReadonlyMap<Cents, readonly Decision[]> = new Map([
  [cents(9_201n), [{ afterMs: days(1), standing: won }]],
  [cents(9_202n), [{ afterMs: days(1), standing: lost }]],
  [cents(9_203n), [credit(credited), { afterMs: days(3), standing: won }]],
  [cents(9_204n), [credit(credited), { afterMs: days(3), standing: lost }]],
])

function credit(standing: DisputeStanding): Decision {
  return { afterMs: 0, standing }
}

const REFUSED_CENTS = cents(9_205n)
const SILENT_CENTS = cents(9_206n)

const NOT_TAKEN: ProcessorFailure = {
  failure: 'refused',
  code: 'not_disputable',
  message: 'The sandbox refuses disputes of this amount.',
}

const UNKNOWN: ProcessorFailure = {
  failure: 'refused',
  code: 'unknown_dispute',
  message: 'The sandbox has not opened this dispute.',
}

const UNDECIDED: DisputeStanding = { status: 'undecided' }

/** Stores nothing: decisions follow from amount and time. */
export function sandboxDisputes(secrets: Secrets): CardDisputes {
  const acknowledging = async ({ processorDisputeId }: KnownDispute) =>
    isDispute(secrets, processorDisputeId) ? ({ done: true } as const) : UNKNOWN
  return {
    async open({ disputeId, amountCents, openedAt }, { now }): Promise<OpenedDispute | ProcessorFailure> {
      if (amountCents === REFUSED_CENTS) return NOT_TAKEN
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

function decidedBy({ amountCents, submittedAt }: KnownDispute, { now }: ProcessorCall): DisputeStanding {
  if (!submittedAt) return UNDECIDED
  const decisions = byAmount.get(amountCents) ?? []
  return decisions.findLast(({ afterMs }) => after(submittedAt, afterMs) <= now)?.standing ?? UNDECIDED
}
