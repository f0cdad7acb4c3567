import { incidentStatus, incidentSteps, sendDueReminder } from '../src/compliance/security-incidents/index.ts'
import type { RecordRef } from '../src/kernel/contract/step.ts'
import type { ActivityTools } from './shared/tools.ts'

export type IncidentActivities = ReturnType<typeof incidentActivities>

export const incidentActivities = ({ read, transaction }: ActivityTools) => {
  const readIncident = (ref: RecordRef) => read(ref, context => incidentStatus(ref.id, context))
  return {
    readIncident,

    async remindOfReports(ref: RecordRef) {
      await transaction(ref, incidentSteps.remind, tx => sendDueReminder(ref.id, tx))
      return readIncident(ref)
    },
  }
}
