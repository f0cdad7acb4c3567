import { deletionActivities, exportActivities } from './gdpr.ts'
import { incidentActivities } from './incidents.ts'
import { intentActivities } from './intents.ts'
import { mandateActivities } from './mandates.ts'
import { recoveryActivities } from './recoveries.ts'
import type { ActivityTools } from './shared/tools.ts'
import { webhookActivities } from './webhooks.ts'

const nouns = {
  deletions: deletionActivities,
  exports: exportActivities,
  incidents: incidentActivities,
  intents: intentActivities,
  mandates: mandateActivities,
  recoveries: recoveryActivities,
  webhooks: webhookActivities,
}

type OfNoun = ReturnType<(typeof nouns)[keyof typeof nouns]>
type Intersection<T> = (T extends T ? (one: T) => void : never) extends (all: infer All) => void ? All : never

export type AllActivities = Intersection<OfNoun>

/** All activities of records, by name. */
export const allActivities = (tools: ActivityTools): AllActivities =>
  Object.assign({}, ...Object.values(nouns).map(of => of(tools)))
