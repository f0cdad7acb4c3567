import { agentActivities } from './agents.ts'
import { cardRequestActivities } from './card-requests.ts'
import { cardActivities } from './cards.ts'
import { collectActivities } from './collect.ts'
import { disputeActivities } from './disputes.ts'
import { deletionActivities, exportActivities } from './gdpr.ts'
import { incidentActivities } from './incidents.ts'
import { intentActivities } from './intents.ts'
import { kycActivities } from './kyc.ts'
import { mandateActivities } from './mandates.ts'
import { mppActivities } from './mpp.ts'
import { onboardingActivities } from './onboardings.ts'
import { recoveryActivities } from './recoveries.ts'
import { refundActivities } from './refunds.ts'
import { sepaFileActivities } from './sepa-files.ts'
import type { ActivityTools } from './shared/tools.ts'
import { transferActivities } from './transfers.ts'
import { webhookActivities } from './webhooks.ts'

const nouns = {
  agents: agentActivities,
  cardRequests: cardRequestActivities,
  cards: cardActivities,
  collect: collectActivities,
  deletions: deletionActivities,
  disputes: disputeActivities,
  exports: exportActivities,
  incidents: incidentActivities,
  identityChecks: kycActivities,
  intents: intentActivities,
  machinePayments: mppActivities,
  mandates: mandateActivities,
  onboardings: onboardingActivities,
  recoveries: recoveryActivities,
  refunds: refundActivities,
  sepaFiles: sepaFileActivities,
  transfers: transferActivities,
  webhooks: webhookActivities,
}

type OfNoun = ReturnType<(typeof nouns)[keyof typeof nouns]>
type Intersection<T> = (T extends T ? (one: T) => void : never) extends (all: infer All) => void ? All : never

export type AllActivities = Intersection<OfNoun>

/** All activities of records, by name. */
export const allActivities = (tools: ActivityTools): AllActivities =>
  Object.assign({}, ...Object.values(nouns).map(of => of(tools)))
