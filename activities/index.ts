import { cardRequestActivities } from './card-requests.ts'
import { cardActivities } from './cards.ts'
import { intentActivities } from './intents.ts'
import { mandateActivities } from './mandates.ts'
import type { ActivityTools } from './shared/tools.ts'

export type AllActivities = ReturnType<typeof allActivities>

/** All activities of records, by name. */
export function allActivities(tools: ActivityTools) {
  const ofIntents = intentActivities(tools)
  const ofMandates = mandateActivities(tools)
  const ofCards = cardActivities(tools)
  const ofCardRequests = cardRequestActivities(tools)
  // biome-ignore lint/nursery/noMisusedPromises: activities are objects, not promises
  return { ...ofIntents, ...ofMandates, ...ofCards, ...ofCardRequests }
}
