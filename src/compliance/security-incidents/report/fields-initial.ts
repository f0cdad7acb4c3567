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
  ['2.1', 'Incident reference code assigned by the financial entity', 'always', ({ id }) => id],
  [
    '2.2',
    'Date and time of detection of the major ICT-related incident',
    'always',
    ({ detectedAt }) => instantText(detectedAt),
  ],
  [
    '2.3',
    'Date and time of classification of the ICT-related incident as major',
    'always',
    ({ classifiedAt }) => instantText(classifiedAt),
  ],
  ['2.4', 'Description of the major ICT-related incident', 'always', ({ description }) => description],
  ['2.5', 'Classification criteria that triggered the incident report', 'always', criteriaMet],
  [
    '2.6',
    'Materiality thresholds for the classification criterion ‘Geographical spread’',
    'applicable',
    statesAffected,
  ],
  ['2.7', 'Discovery of the major ICT-related incident', 'always'],
  [
    '2.8',
    'Indication whether the major ICT-related incident originates from a third-party provider or another financial entity',
    'applicable',
  ],
  ['2.9', 'Activation of business continuity plan, if activated', 'always'],
  ['2.10', 'Other relevant information', 'applicable'],
])
