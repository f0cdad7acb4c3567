import { intentActivities } from './intents.ts'
import { mandateActivities } from './mandates.ts'
import { mppActivities } from './mpp.ts'
import type { ActivityTools } from './shared/tools.ts'

export type AllActivities = ReturnType<typeof allActivities>

/** All activities of records, by name. */
export function allActivities(tools: ActivityTools) {
  const ofIntents = intentActivities(tools)
  const ofMandates = mandateActivities(tools)
  const ofMachinePayments = mppActivities(tools)
  // biome-ignore lint/nursery/noMisusedPromises: activities are objects, not promises
  return { ...ofIntents, ...ofMandates, ...ofMachinePayments }
}
