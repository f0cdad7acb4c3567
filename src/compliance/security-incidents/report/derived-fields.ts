import {
  assessIncidentSeverity,
  type ClassificationCriteria,
  type CriterionFinding,
  EEA_COUNTRIES,
} from '../criteria.ts'
import type { SecurityIncident } from '../incident.ts'
import { CRITERION_CHOICES, INCIDENT_TYPE_CHOICES, REPUTATION_CHOICES } from './choices.ts'
import {
  formatDuration,
  formatInstant,
  formatNumber,
  formatShareEntry,
  formatThousands,
  joinChoices,
} from './forms.ts'

export interface ReportContext {
  readonly submission: string
  readonly holder: string
}

type Read = (incident: SecurityIncident, about: ReportContext) => string | null

const fromCriteria =
  (read: (criteria: ClassificationCriteria) => string | null): Read =>
  ({ criteria }) =>
    criteria && read(criteria)

/** The form's names of our findings. Recurring incidents are stated in field 4.15. */
const NAMES: Readonly<Record<CriterionFinding['criterion'], string | null>> = {
  critical_services: CRITERION_CHOICES.critical,
  clients_counterparts_transactions: CRITERION_CHOICES.clients,
  reputation: CRITERION_CHOICES.reputation,
  duration_and_downtime: CRITERION_CHOICES.duration,
  geographical_spread: CRITERION_CHOICES.geography,
  data_losses: CRITERION_CHOICES.data,
  malicious_access: CRITERION_CHOICES.data,
  economic_impact: CRITERION_CHOICES.economy,
  recurring: null,
}

function criteriaMet(criteria: ClassificationCriteria): string | null {
  const met = assessIncidentSeverity(criteria).findings.flatMap(
    ({ isMet, criterion }) => (isMet && NAMES[criterion]) || [],
  )
  return joinChoices([...new Set(met)])
}

const statesAffected: Read = ({ criteria, countries }) => {
  const states = new Set([...(criteria?.memberStates ?? []), ...countries])
  return joinChoices([...states].filter(state => EEA_COUNTRIES.has(state)).sort())
}

/** Whether the figures are actual or estimated, or there is no impact; null if nothing is known. */
function figures(c: ClassificationCriteria): string | null {
  const counts: readonly (readonly [string, number | null])[] = [
    ['clients', c.clientsAffected],
    ['financial counterparts', c.counterpartsAffected],
    ['transactions', c.transactionsAffected],
  ]
  const kind = c.estimated ? 'estimates' : 'actual figures'
  return joinChoices(
    counts.flatMap(([what, affected]) =>
      affected === null ? [] : affected === 0 ? `no impact on ${what}` : `${kind} for ${what} affected`,
    ),
  )
}

const reputation = ({
  inMedia,
  repeatedComplaints,
  requirementsMissed,
  clientsLeaving,
}: ClassificationCriteria) =>
  joinChoices([
    ...(inMedia ? [REPUTATION_CHOICES.media] : []),
    ...(repeatedComplaints ? [REPUTATION_CHOICES.complaints] : []),
    ...(requirementsMissed ? [REPUTATION_CHOICES.requirements] : []),
    ...(clientsLeaving ? [REPUTATION_CHOICES.clients] : []),
  ])

const between = (from: Date, to: Date | null): number | null =>
  to && to >= from ? Math.floor((to.getTime() - from.getTime()) / 60_000) : null

/** The measured duration; otherwise the time between the known beginning and end. */
const duration: Read = ({ criteria, occurredAt, detectedAt, resolvedAt }) =>
  formatDuration(criteria?.durationMinutes ?? between(occurredAt ?? detectedAt, resolvedAt))

const kindOfTimes = ({
  durationMinutes,
  downtimeMinutes,
  estimated,
}: ClassificationCriteria): string | null => {
  if (!durationMinutes && !downtimeMinutes) return null
  return estimated ? 'estimates' : 'actual figures'
}

const economicImpact = ({ costsEuros }: ClassificationCriteria): string | null => {
  if (costsEuros === null) return null
  return costsEuros > 100_000 ? 'more than EUR 100 000' : 'not met'
}

export const DERIVED_REPORT_FIELDS: Readonly<Record<string, Read>> = {
  '1.1': (_, { submission }) => submission,
  '1.2': (_, { holder }) => holder,
  '1.15': () => 'EUR',
  '2.1': ({ id }) => id,
  '2.2': ({ detectedAt }) => formatInstant(detectedAt),
  '2.3': ({ classifiedAt }) => formatInstant(classifiedAt),
  '2.4': ({ description }) => description,
  '2.5': fromCriteria(criteriaMet),
  '2.6': statesAffected,
  '3.1': ({ reports }) => reports.find(({ stage }) => stage === 'initial')?.reference ?? null,
  '3.2': ({ occurredAt }) => formatInstant(occurredAt),
  '3.3': ({ recoveredAt }) => formatInstant(recoveredAt),
  '3.4': ({ criteria, affectedUsers }) => formatNumber(criteria?.clientsAffected ?? affectedUsers),
  '3.5': fromCriteria(c => formatShareEntry(c.clientsAffected, c.clientsOfService)),
  '3.6': fromCriteria(c => formatNumber(c.counterpartsAffected)),
  '3.7': fromCriteria(c => formatShareEntry(c.counterpartsAffected, c.counterpartsOfService)),
  '3.8': fromCriteria(c => (c.relevantClientsAffected ? 'yes' : 'no')),
  '3.9': fromCriteria(c => formatNumber(c.transactionsAffected)),
  '3.10': fromCriteria(c => formatShareEntry(c.transactionsAffected, c.transactionsADay)),
  '3.11': fromCriteria(c => formatThousands(c.transactionsAffectedEuros)),
  '3.12': fromCriteria(figures),
  '3.13': fromCriteria(reputation),
  '3.15': duration,
  '3.16': fromCriteria(c => (c.downtimeMinutes === 0 ? null : formatDuration(c.downtimeMinutes))),
  '3.17': fromCriteria(kindOfTimes),
  // A person states which ones were affected, and how.
  '3.22': fromCriteria(c => (c.criticalServices ? null : 'No critical services are affected.')),
  '3.23': ({ category }) => INCIDENT_TYPE_CHOICES[category],
  '3.31': ({ reports }) =>
    reports.some(({ stage }) => stage === 'data_protection') ? 'data protection authority' : null,
  '4.8': ({ resolvedAt }) => formatInstant(resolvedAt),
  '4.12': fromCriteria(economicImpact),
  '4.13': fromCriteria(c => formatThousands(c.costsEuros)),
}
