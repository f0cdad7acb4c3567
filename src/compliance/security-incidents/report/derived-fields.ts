import { assess, type Criteria, type Finding, MEMBER_STATES } from '../criteria.ts'
import type { SecurityIncident } from '../incident.ts'
import { CRITERIA, INCIDENT_TYPES, REPUTATION } from './choices.ts'
import { instantText, listText, numberText, shareText, spanText, thousandsText } from './forms.ts'

export interface ReportAbout {
  readonly submission: string
  readonly holder: string
}

type Read = (incident: SecurityIncident, about: ReportAbout) => string | null

const fromCriteria =
  (read: (criteria: Criteria) => string | null): Read =>
  ({ criteria }) =>
    criteria && read(criteria)

/** The form's names of our findings. Recurring incidents are stated in field 4.15. */
const NAMES: Readonly<Record<Finding['criterion'], string | null>> = {
  critical_services: CRITERIA.critical,
  clients_counterparts_transactions: CRITERIA.clients,
  reputation: CRITERIA.reputation,
  duration_and_downtime: CRITERIA.duration,
  geographical_spread: CRITERIA.geography,
  data_losses: CRITERIA.data,
  malicious_access: CRITERIA.data,
  economic_impact: CRITERIA.economy,
  recurring: null,
}

function criteriaMet(criteria: Criteria): string | null {
  const met = assess(criteria).findings.flatMap(({ isMet, criterion }) => (isMet && NAMES[criterion]) || [])
  return listText([...new Set(met)])
}

const statesAffected: Read = ({ criteria, countries }) => {
  const states = new Set([...(criteria?.memberStates ?? []), ...countries])
  return listText([...states].filter(state => MEMBER_STATES.has(state)).sort())
}

/** Whether the figures are actual or estimated, or there is no impact; null if nothing is known. */
function figures(c: Criteria): string | null {
  const counts: readonly (readonly [string, number | null])[] = [
    ['clients', c.clientsAffected],
    ['financial counterparts', c.counterpartsAffected],
    ['transactions', c.transactionsAffected],
  ]
  const kind = c.estimated ? 'estimates' : 'actual figures'
  return listText(
    counts.flatMap(([what, affected]) =>
      affected === null ? [] : affected === 0 ? `no impact on ${what}` : `${kind} for ${what} affected`,
    ),
  )
}

const reputation = ({ inMedia, repeatedComplaints, requirementsMissed, clientsLeaving }: Criteria) =>
  listText([
    ...(inMedia ? [REPUTATION.media] : []),
    ...(repeatedComplaints ? [REPUTATION.complaints] : []),
    ...(requirementsMissed ? [REPUTATION.requirements] : []),
    ...(clientsLeaving ? [REPUTATION.clients] : []),
  ])

const between = (from: Date, to: Date | null): number | null =>
  to && to >= from ? Math.floor((to.getTime() - from.getTime()) / 60_000) : null

/** The measured duration; otherwise the time between the known beginning and end. */
const duration: Read = ({ criteria, occurredAt, detectedAt, resolvedAt }) =>
  spanText(criteria?.durationMinutes ?? between(occurredAt ?? detectedAt, resolvedAt))

const kindOfTimes = ({ durationMinutes, downtimeMinutes, estimated }: Criteria): string | null => {
  if (!durationMinutes && !downtimeMinutes) return null
  return estimated ? 'estimates' : 'actual figures'
}

const economicImpact = ({ costsEuros }: Criteria): string | null => {
  if (costsEuros === null) return null
  return costsEuros > 100_000 ? 'more than EUR 100 000' : 'not met'
}

export const DERIVED_FIELDS: Readonly<Record<string, Read>> = {
  '1.1': (_, { submission }) => submission,
  '1.2': (_, { holder }) => holder,
  '1.15': () => 'EUR',
  '2.1': ({ id }) => id,
  '2.2': ({ detectedAt }) => instantText(detectedAt),
  '2.3': ({ classifiedAt }) => instantText(classifiedAt),
  '2.4': ({ description }) => description,
  '2.5': fromCriteria(criteriaMet),
  '2.6': statesAffected,
  '3.1': ({ reports }) => reports.find(({ stage }) => stage === 'initial')?.reference ?? null,
  '3.2': ({ occurredAt }) => instantText(occurredAt),
  '3.3': ({ recoveredAt }) => instantText(recoveredAt),
  '3.4': ({ criteria, affectedUsers }) => numberText(criteria?.clientsAffected ?? affectedUsers),
  '3.5': fromCriteria(c => shareText(c.clientsAffected, c.clientsOfService)),
  '3.6': fromCriteria(c => numberText(c.counterpartsAffected)),
  '3.7': fromCriteria(c => shareText(c.counterpartsAffected, c.counterpartsOfService)),
  '3.8': fromCriteria(c => (c.relevantClientsAffected ? 'yes' : 'no')),
  '3.9': fromCriteria(c => numberText(c.transactionsAffected)),
  '3.10': fromCriteria(c => shareText(c.transactionsAffected, c.transactionsADay)),
  '3.11': fromCriteria(c => thousandsText(c.transactionsAffectedEuros)),
  '3.12': fromCriteria(figures),
  '3.13': fromCriteria(reputation),
  '3.15': duration,
  '3.16': fromCriteria(c => (c.downtimeMinutes === 0 ? null : spanText(c.downtimeMinutes))),
  '3.17': fromCriteria(kindOfTimes),
  // A person states which ones were affected, and how.
  '3.22': fromCriteria(c => (c.criticalServices ? null : 'No critical services are affected.')),
  '3.23': ({ category }) => INCIDENT_TYPES[category],
  '3.31': ({ reports }) =>
    reports.some(({ stage }) => stage === 'data_protection') ? 'data protection authority' : null,
  '4.8': ({ resolvedAt }) => instantText(resolvedAt),
  '4.12': fromCriteria(economicImpact),
  '4.13': fromCriteria(c => thousandsText(c.costsEuros)),
}
