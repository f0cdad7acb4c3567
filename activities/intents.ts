import {
  endApprovalStep,
  intentExpiry,
  intentStatus,
  intentSteps,
  intentsApi,
  remindApprovers,
} from '../src/control/intents/index.ts'
import type { RecordRef } from '../src/kernel/contract/step.ts'
import { type ActivityTools, denial } from './shared/tools.ts'

export type IntentActivities = ReturnType<typeof intentActivities>

export const intentActivities = ({ read, decide, inBatch, transaction }: ActivityTools) => {
  const readIntent = (ref: RecordRef) => read(ref, context => intentStatus(ref.id, context))
  return {
    readIntent,

    decideIntent: decide({
      approve: { operation: intentsApi.approve },
      deny: { operation: intentsApi.deny, body: denial },
      cancel: { operation: intentsApi.cancel },
    }),

    async remindApprovers(ref: RecordRef) {
      await transaction(ref, intentSteps.remind, tx => remindApprovers(ref.id, tx))
      return readIntent(ref)
    },

    async endApprovalStep(ref: RecordRef) {
      await transaction(ref, intentSteps.endStep, tx => endApprovalStep(ref.id, tx))
      return readIntent(ref)
    },

    /** Thousands may expire at the same instant: those of an owner share a commit. */
    async expireIntent(ref: RecordRef) {
      await inBatch(ref, intentSteps.expire, intentExpiry)
      return readIntent(ref)
    },
  }
}
