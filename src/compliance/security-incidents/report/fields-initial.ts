import { assess } from '../criteria.ts'
import type { SecurityIncident } from '../incident.ts'
import { type Field, fieldsOf, instantText, listText } from './field.ts'

const CRITERIA: Readonly<Record<string, string>> = {
  critical_services: 'critical services affected',
  clients_counterparts_transactions: 'clients, financial counterparts and transactions',
  reputation: 'reputational impact',
  duration_and_downtime: 'duration and service downtime',
  geographical_spread: 'geographical spread',
  data_losses: 'data losses',
  malicious_access: 'data losses: malicious access',
  economic_impact: 'economic impact',
  recurring: 'recurring incidents',
}

function criteriaMet({ criteria }: SecurityIncident): string | null {
  if (!criteria) return null
  const met = assess(criteria).findings.filter(({ isMet }) => isMet)
  return listText(met.map(({ criterion }) => CRITERIA[criterion] ?? criterion))
}

export const statesAffected = ({ criteria, countries }: SecurityIncident): string | null =>
  listText([...new Set([...(criteria?.memberStates ?? []), ...countries])].sort())

export const initialFields: readonly Field[] = fieldsOf('initial', [
  ['2.1', 'Reference of the incident at the entity', 'always', ({ id }) => id],
  ['2.2', 'Detected', 'always', ({ detectedAt }) => instantText(detectedAt)],
  ['2.3', 'Classified as major', 'always', ({ classifiedAt }) => instantText(classifiedAt)],
  ['2.4', 'Description of the incident', 'always', ({ description }) => description],
  ['2.5', 'Classification criteria that led to the report', 'always', criteriaMet],
  ['2.6', 'Member States in which it is felt', 'applicable', statesAffected],
  ['2.7', 'How it was discovered', 'always'],
  ['2.8', 'Whether it comes from a third-party provider or another financial entity', 'applicable'],
  ['2.9', 'Business continuity plan activated', 'always'],
  ['2.10', 'Other information', 'applicable'],
])
