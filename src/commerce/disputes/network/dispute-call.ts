import type { Mode } from '../../../kernel/contract/actor.ts'
import type { DisputeStanding, Done, OpenedDispute, ProcessorFailure } from '../../../ports/card-processor.ts'
import type { BundleInput } from '../bundle/input.ts'
import type { Dispute } from '../dispute.ts'
import type { ProcessorCallKind } from '../schedule.ts'

/** A call of the processor for a dispute: JSON, as it outlives a crash. */
export interface DisputeCall {
  readonly disputeId: string
  readonly kind: ProcessorCallKind
  readonly mode: Mode
  readonly ownerId: string
  /** The tenant's time at the reservation. */
  readonly now: string
  readonly claim: {
    readonly cents: string
    readonly reason: Dispute['reason']
    readonly description: string
  }
  readonly processorDisputeId: string | null
  readonly submittedAt: string | null
  readonly openedAt: string
  readonly processorCardId: string
  readonly clearings: readonly { readonly id: string; readonly cents: string }[]
  readonly bundle: BundleInput | null
}

export type DisputeAnswer = OpenedDispute | Done | DisputeStanding | ProcessorFailure
