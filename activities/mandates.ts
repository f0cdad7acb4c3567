import { expireMandate, mandateRunStatus, mandateSteps, mandatesApi } from '../src/control/mandates/index.ts'
import type { RecordRef } from '../src/kernel/contract/step.ts'
import type { ActivityTools } from './shared/tools.ts'

export type MandateActivities = ReturnType<typeof mandateActivities>

export const mandateActivities = ({ read, decide, transaction }: ActivityTools) => {
  const readMandate = (ref: RecordRef) => read(ref, context => mandateRunStatus(ref.id, context))
  return {
    readMandate,

    changeMandate: decide({
      suspend: { operation: mandatesApi.suspend },
      resume: { operation: mandatesApi.resume },
      revoke: { operation: mandatesApi.revoke },
    }),

    async expireMandate(ref: RecordRef) {
      await transaction(ref, mandateSteps.expire, tx => expireMandate(ref.id, tx))
      return readMandate(ref)
    },
  }
}
