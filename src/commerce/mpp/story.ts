import type { ProcessStatus } from '../../kernel/contract/process.ts'
import type { RecordRef } from '../../kernel/contract/step.ts'

/**
 * What may be done for a payment that is not answered yet. `wait`: another process is at it. `none`: there is an answer for
 * its caller, which is an outcome, a refusal, or that a person must confirm it.
 */
export type NextStep = 'order' | 'token' | 'send' | 'wait' | 'none'

export interface MachinePaymentState extends ProcessStatus {
  readonly next: NextStep
  /** A person must approve its intent, or confirm its shared payment token with the card’s issuer. */
  readonly awaitsPerson: boolean
}

type Step = (payment: RecordRef) => Promise<NextStep>

export interface MachinePaymentSteps {
  readonly mintCredential: Step
  readonly createSharedToken: Step
  readonly sendCredential: Step
}

/**
 * Pays a merchant up to the outcome: asks for its offer and mints a credential, for the method `stripe` by a token of the
 * card’s processor, and sends it, once. A run takes these steps, or the request does; each finds out what was done before.
 */
export async function payMerchant(
  payment: RecordRef,
  from: NextStep,
  { mintCredential, createSharedToken, sendCredential }: MachinePaymentSteps,
): Promise<NextStep> {
  let next = from
  if (next === 'order') next = await mintCredential(payment)
  if (next === 'token') next = await createSharedToken(payment)
  if (next === 'send') next = await sendCredential(payment)
  return next
}
