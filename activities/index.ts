import type { AttemptDelivery } from '../src/delivery/webhooks/index.ts'
import { intentActivities } from './intents.ts'
import { mandateActivities } from './mandates.ts'
import type { ActivityTools } from './shared/tools.ts'
import { webhookActivities } from './webhooks.ts'

/** What acts outside the database by means of its own. */
interface Means {
  readonly attemptDelivery: AttemptDelivery
}

export type AllActivities = ReturnType<typeof allActivities>

/** All activities of records, by name. */
export function allActivities(tools: ActivityTools, { attemptDelivery }: Means) {
  const ofIntents = intentActivities(tools)
  const ofMandates = mandateActivities(tools)
  const ofWebhooks = webhookActivities(tools, attemptDelivery)
  // biome-ignore lint/nursery/noMisusedPromises: activities are objects, not promises
  return { ...ofIntents, ...ofMandates, ...ofWebhooks }
}
