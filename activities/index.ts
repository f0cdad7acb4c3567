import { cardRequestActivities } from './card-requests.ts'
import { cardActivities } from './cards.ts'
import { deletionActivities, exportActivities } from './gdpr.ts'
import { incidentActivities } from './incidents.ts'
import { intentActivities } from './intents.ts'
import { mandateActivities } from './mandates.ts'
import { onboardingActivities } from './onboardings.ts'
import { recoveryActivities } from './recoveries.ts'
import type { ActivityTools } from './shared/tools.ts'
import { webhookActivities } from './webhooks.ts'

const nouns = {
  cardRequests: cardRequestActivities,
  cards: cardActivities,
  deletions: deletionActivities,
  exports: exportActivities,
  incidents: incidentActivities,
  intents: intentActivities,
  mandates: mandateActivities,
  onboardings: onboardingActivities,
  recoveries: recoveryActivities,
  webhooks: webhookActivities,
}

type OfNoun = ReturnType<(typeof nouns)[keyof typeof nouns]>
type Intersection<T> = (T extends T ? (one: T) => void : never) extends (all: infer All) => void ? All : never

export type AllActivities = Intersection<OfNoun>

/** All activities of records, by name. */
export const allActivities = (tools: ActivityTools): AllActivities =>
  Object.assign({}, ...Object.values(nouns).map(of => of(tools)))
