export interface ProcessorCall {
  /** The idempotency key: the processor acts once on it. */
  readonly reference: string
  readonly requestId: string
  /** The tenant's time, which the simulator uses. */
  readonly now: Date
}

export interface ProcessorCallDone {
  readonly done: true
}

export const CALL_DONE: ProcessorCallDone = { done: true }

/** `late`: no answer in time; `unusable`: an answer that cannot be read. Both may be retried. `refused`: final. */
export type ProcessorFailure =
  | { readonly failure: 'late' | 'unusable' }
  | { readonly failure: 'refused'; readonly code: string; readonly message: string }

export const isProcessorFailure = <T extends object>(
  answer: T | ProcessorFailure,
): answer is ProcessorFailure => 'failure' in answer
