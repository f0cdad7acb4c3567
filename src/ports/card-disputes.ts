import type { Cents } from '../values/money.ts'
import type { Done, ProcessorCall, ProcessorFailure } from './processor-call.ts'

/** Why a payment by card is disputed. The first two say that nobody has authorized it. */
export const disputeReasons = [
  'unauthorized',
  'fraud',
  'not_received',
  'not_as_described',
  'duplicate',
  'incorrect_amount',
  'cancelled',
  'credit_not_processed',
] as const

export type DisputeReason = (typeof disputeReasons)[number]

/**
 * The part of a card processor that brings disputes before the card network. Each call may be repeated: the processor
 * acts once on its reference. What the network decides comes as an answer to `inquire`, or sooner as a message.
 */
export interface CardDisputes {
  /** Opens a dispute, once per reference. The network is told nothing before `submit`. */
  open(dispute: NewDispute, call: ProcessorCall): Promise<OpenedDispute | ProcessorFailure>
  /** Hands over what speaks for the owner, in place of what was handed over before. */
  addEvidence(
    dispute: KnownDispute,
    evidence: DisputeEvidence,
    call: ProcessorCall,
  ): Promise<Done | ProcessorFailure>
  submit(dispute: KnownDispute, call: ProcessorCall): Promise<Done | ProcessorFailure>
  withdraw(dispute: KnownDispute, call: ProcessorCall): Promise<Done | ProcessorFailure>
  inquire(dispute: KnownDispute, call: ProcessorCall): Promise<DisputeStanding | ProcessorFailure>
}

interface DisputeClaim {
  readonly amountCents: Cents
  readonly reason: DisputeReason
  /** What has happened, in the words of the owner or of the agent. */
  readonly description: string
}

export interface NewDispute extends DisputeClaim {
  /** The service's id of the dispute: messages of the processor name it. */
  readonly disputeId: string
  readonly processorCardId: string
  readonly openedAt: Date
  /** The clearings of the payment, by the processor's ids; the largest first. */
  readonly clearings: readonly { readonly id: string; readonly amountCents: Cents }[]
}

export interface OpenedDispute {
  readonly processorDisputeId: string
  /** Until when evidence can be given; null where the processor sets no such time. */
  readonly evidenceDueAt: Date | null
}

/** What the service knows of a dispute that is open at the processor. */
export interface KnownDispute {
  readonly processorDisputeId: string
  readonly amountCents: Cents
  readonly submittedAt: Date | null
}

export interface DisputeEvidence extends DisputeClaim {
  /** The bundle: one PDF with all that is known of the payment. */
  readonly bundle: Uint8Array
  readonly sha256: string
}

/** How the network has decided so far. `expired`: it was not submitted in time. */
export type DisputeStanding =
  | { readonly status: 'undecided' }
  | { readonly status: 'credited' | 'won'; readonly amountCents: Cents | null }
  | { readonly status: 'lost' | 'expired' }
