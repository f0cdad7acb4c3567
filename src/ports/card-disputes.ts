import type { Cents } from '../values/money.ts'
import type { ProcessorCall, ProcessorCallDone, ProcessorFailure } from './processor-call.ts'

/** The first two mean that the payment was not authorized. */
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
 * The part of a card processor that submits disputes to the card network. Each call may be repeated: the
 * processor acts once per reference. The network's decision is the answer to `inquire`, or an earlier
 * message.
 */
export interface CardDisputes {
  /** Opens a dispute, once per reference. The network learns nothing before `submit`. */
  open(dispute: NewNetworkDispute, call: ProcessorCall): Promise<OpenedNetworkDispute | ProcessorFailure>
  addEvidence(
    dispute: OpenNetworkDispute,
    evidence: DisputeEvidence,
    call: ProcessorCall,
  ): Promise<ProcessorCallDone | ProcessorFailure>
  submit(dispute: OpenNetworkDispute, call: ProcessorCall): Promise<ProcessorCallDone | ProcessorFailure>
  withdraw(dispute: OpenNetworkDispute, call: ProcessorCall): Promise<ProcessorCallDone | ProcessorFailure>
  inquire(
    dispute: OpenNetworkDispute,
    call: ProcessorCall,
  ): Promise<NetworkDisputeDecision | ProcessorFailure>
}

interface DisputeClaim {
  readonly amountCents: Cents
  readonly reason: DisputeReason
  readonly description: string
}

export interface NewNetworkDispute extends DisputeClaim {
  readonly disputeId: string
  readonly processorCardId: string
  readonly openedAt: Date
  /** The clearings of the payment, by the processor's ids; the largest first. */
  readonly clearings: readonly { readonly id: string; readonly amountCents: Cents }[]
}

export interface OpenedNetworkDispute {
  readonly processorDisputeId: string
  readonly evidenceDueAt: Date | null
}

export interface OpenNetworkDispute {
  readonly processorDisputeId: string
  readonly amountCents: Cents
  readonly submittedAt: Date | null
}

export interface DisputeEvidence extends DisputeClaim {
  readonly bundle: Uint8Array
  readonly sha256: string
}

/** The network's decision so far. `expired`: it was not submitted in time. */
export type NetworkDisputeDecision =
  | { readonly status: 'undecided' }
  | { readonly status: 'credited' | 'won'; readonly amountCents: Cents | null }
  | { readonly status: 'lost' | 'expired' }
