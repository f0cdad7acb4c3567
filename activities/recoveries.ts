import { advanceRecovery, recoveryApi, recoveryStatus, recoverySteps } from '../src/identity/people/index.ts'
import type { RecordRef } from '../src/kernel/contract/step.ts'
import type { ActivityTools } from './shared/tools.ts'

export type RecoveryActivities = ReturnType<typeof recoveryActivities>

export const recoveryActivities = ({ read, decide, transaction }: ActivityTools) => {
  const readRecovery = (ref: RecordRef) => read(ref, context => recoveryStatus(ref.id, context))
  return {
    readRecovery,

    answerRecovery: decide({ cancel: { operation: recoveryApi.cancelRecovery } }),

    async advanceRecovery(ref: RecordRef) {
      await transaction(ref, recoverySteps.advance, tx => advanceRecovery(ref.id, tx))
      return readRecovery(ref)
    },
  }
}
