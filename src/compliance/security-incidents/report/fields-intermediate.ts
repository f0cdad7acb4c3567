import type { Criteria } from '../criteria.ts'
import type { SecurityIncident } from '../incident.ts'
import { type Field, fieldsOf, instantText, listText, numberText, percentText, spanText } from './field.ts'
import { statesAffected } from './fields-initial.ts'

type Read = NonNullable<Field['read']>

/** Read off the criteria; null while they are not known. */
const known =
  (read: (criteria: Criteria) => string | null): Read =>
  ({ criteria }) =>
    criteria && read(criteria)

const clientsAffected: Read = ({ criteria, affectedUsers }) =>
  numberText(criteria?.clientsAffected ?? affectedUsers)

const COUNTED = ['clients', 'financial counterparts', 'transactions'] as const

/** Whether the numbers are actual or estimates, or that there is no impact; null where nothing is known. */
function natureOfNumbers(c: Criteria): string | null {
  const counts = [c.clientsAffected, c.counterpartsAffected, c.transactionsAffected]
  const words = counts.flatMap((count, n) => {
    if (count === null) return []
    const kind = count === 0 ? 'no impact on' : c.estimated ? 'estimates for' : 'actual figures for'
    return `${kind} ${COUNTED[n]}`
  })
  return listText(words)
}

const isAnyPositive = (...counts: readonly (number | null)[]): boolean =>
  counts.some(count => (count ?? 0) > 0)

const reputation = ({ inMedia, repeatedComplaints, requirementsMissed, clientsLeaving }: Criteria) =>
  listText([
    ...(inMedia ? ['reported by media'] : []),
    ...(repeatedComplaints ? ['repeated complaints'] : []),
    ...(requirementsMissed ? ['regulatory requirements not met'] : []),
    ...(clientsLeaving ? ['loss of clients'] : []),
  ])

const losses = ({ dataLosses, maliciousAccess }: Criteria) =>
  listText([
    ...(dataLosses ? ['availability, authenticity, integrity or confidentiality of data'] : []),
    ...(maliciousAccess ? ['malicious access by which data may be lost'] : []),
  ])

/** What was measured; where nobody has, from the beginning to the end as far as both are known. */
const duration: Read = ({ criteria, occurredAt, detectedAt, resolvedAt }: SecurityIncident) =>
  spanText(criteria?.durationMinutes ?? between(occurredAt ?? detectedAt, resolvedAt))

const between = (from: Date, to: Date | null): number | null =>
  to && to >= from ? Math.floor((to.getTime() - from.getTime()) / 60_000) : null

const CATEGORIES: Readonly<Record<SecurityIncident['category'], string>> = {
  cybersecurity: 'cybersecurity-related',
  process_failure: 'process failure',
  system_failure: 'system failure',
  external_event: 'external event',
  payment_related: 'payment-related',
  other: 'other',
}

export const intermediateFields: readonly Field[] = fieldsOf('intermediate', [
  [
    '3.1',
    'Incident reference code provided by the competent authority',
    'applicable',
    ({ reports }) => reports.find(({ stage }) => stage === 'initial')?.reference ?? null,
  ],
  [
    '3.2',
    'Date and time of occurrence of the major ICT-related incident',
    'always',
    ({ occurredAt }) => instantText(occurredAt),
  ],
  [
    '3.3',
    'Date and time when services, activities or operations have been recovered',
    'applicable',
    ({ recoveredAt }) => instantText(recoveredAt),
  ],
  ['3.4', 'Number of clients affected', 'always', clientsAffected],
  [
    '3.5',
    'Percentage of clients affected',
    'always',
    known(c => percentText(c.clientsAffected, c.clientsOfService)),
  ],
  [
    '3.6',
    'Number of financial counterparts affected',
    'always',
    known(c => numberText(c.counterpartsAffected)),
  ],
  [
    '3.7',
    'Percentage of financial counterparts affected',
    'always',
    known(c => percentText(c.counterpartsAffected, c.counterpartsOfService)),
  ],
  [
    '3.8',
    'Impact on relevant clients or financial counterparts',
    'applicable',
    known(c => (c.relevantClientsAffected ? 'yes' : 'no')),
  ],
  ['3.9', 'Number of affected transactions', 'always', known(c => numberText(c.transactionsAffected))],
  [
    '3.10',
    'Percentage of affected transactions',
    'always',
    known(c => percentText(c.transactionsAffected, c.transactionsADay)),
  ],
  ['3.11', 'Value of affected transactions', 'always', known(c => numberText(c.transactionsAffectedEuros))],
  [
    '3.12',
    'Information on whether the numbers are actual or estimates, or whether there has not been any impact',
    'applicable',
    known(natureOfNumbers),
  ],
  ['3.13', 'Reputational impact', 'applicable', known(reputation)],
  ['3.14', 'Contextual information about the reputational impact', 'applicable'],
  ['3.15', 'Duration of the major ICT-related incident', 'always', duration],
  ['3.16', 'Service downtime', 'always', known(c => spanText(c.downtimeMinutes))],
  [
    '3.17',
    'Information on whether the numbers for duration and service downtime are actual or estimates',
    'applicable',
    known(c =>
      isAnyPositive(c.durationMinutes, c.downtimeMinutes)
        ? c.estimated
          ? 'estimates'
          : 'actual figures'
        : null,
    ),
  ],
  ['3.18', 'Types of impact in the Member States', 'applicable'],
  [
    '3.19',
    'Description of how the major ICT-related incident has an impact in other Member States',
    'applicable',
    incident => statesAffected(incident),
  ],
  [
    '3.20',
    'Materiality thresholds for the classification criterion ‘Data losses’',
    'applicable',
    known(losses),
  ],
  ['3.21', 'Description of the data losses', 'applicable'],
  [
    '3.22',
    'Classification criterion ‘Critical services affected’',
    'always',
    known(c => (c.criticalServices ? 'yes' : 'no')),
  ],
  ['3.23', 'Type of the major ICT-related incident', 'always', ({ category }) => CATEGORIES[category]],
  ['3.24', 'Other types of incidents', 'applicable'],
  ['3.25', 'Threats and techniques used by the threat actor', 'applicable'],
  ['3.26', 'Other types of techniques', 'applicable'],
  ['3.27', 'Information about affected functional areas and business processes', 'always'],
  ['3.28', 'Affected infrastructure components supporting business processes', 'always'],
  [
    '3.29',
    'Information about affected infrastructure components supporting business processes',
    'applicable',
  ],
  ['3.30', 'Impact on the financial interest of clients', 'always'],
  [
    '3.31',
    'Reporting to other authorities',
    'always',
    ({ reports }) =>
      reports.some(({ stage }) => stage === 'data_protection') ? 'data protection authority' : null,
  ],
  ['3.32', 'Specification of ‘other’ authorities', 'applicable'],
  ['3.33', 'Temporary actions/measures taken or planned to be taken to recover from the incident', 'always'],
  [
    '3.34',
    'Description of any temporary actions and measures taken or planned to be taken to recover from the incident',
    'applicable',
  ],
  ['3.35', 'Indicators of compromise', 'applicable'],
])
