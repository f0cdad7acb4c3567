import { intentActivities } from './intents.ts'
import { sepaFileActivities } from './sepa-files.ts'
import type { ActivityTools } from './shared/tools.ts'

export type AllActivities = ReturnType<typeof allActivities>

/** All activities of records, by name. */
export function allActivities(tools: ActivityTools) {
  const ofIntents = intentActivities(tools)
  const ofSepaFiles = sepaFileActivities(tools)
  // biome-ignore lint/nursery/noMisusedPromises: activities are an object, not a promise
  return { ...ofIntents, ...ofSepaFiles }
}
