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
    'Reference of the incident at the authority',
    'applicable',
    ({ reports }) => reports.find(({ stage }) => stage === 'initial')?.reference ?? null,
  ],
  ['3.2', 'Occurred', 'always', ({ occurredAt }) => instantText(occurredAt)],
  ['3.3', 'Services recovered', 'applicable', ({ recoveredAt }) => instantText(recoveredAt)],
  ['3.4', 'Clients affected', 'always', clientsAffected],
  [
    '3.5',
    'Share of clients affected',
    'always',
    known(c => percentText(c.clientsAffected, c.clientsOfService)),
  ],
  ['3.6', 'Financial counterparts affected', 'always', known(c => numberText(c.counterpartsAffected))],
  [
    '3.7',
    'Share of financial counterparts affected',
    'always',
    known(c => percentText(c.counterpartsAffected, c.counterpartsOfService)),
  ],
  [
    '3.8',
    'Relevant clients or counterparts affected',
    'applicable',
    known(c => (c.relevantClientsAffected ? 'yes' : 'no')),
  ],
  ['3.9', 'Transactions affected', 'always', known(c => numberText(c.transactionsAffected))],
  [
    '3.10',
    'Share of transactions affected',
    'always',
    known(c => percentText(c.transactionsAffected, c.transactionsADay)),
  ],
  [
    '3.11',
    'Value of the transactions affected, in euros',
    'always',
    known(c => numberText(c.transactionsAffectedEuros)),
  ],
  [
    '3.12',
    'Whether these numbers are actual or estimates',
    'applicable',
    known(c =>
      isAnyPositive(c.clientsAffected, c.counterpartsAffected, c.transactionsAffected)
        ? c.estimated
          ? 'estimates'
          : 'actual figures'
        : null,
    ),
  ],
  ['3.13', 'Reputational impact', 'applicable', known(reputation)],
  ['3.14', 'What the reputational impact is', 'applicable'],
  ['3.15', 'Duration of the incident', 'always', duration],
  ['3.16', 'Service downtime', 'always', known(c => spanText(c.downtimeMinutes))],
  [
    '3.17',
    'Whether duration and downtime are actual or estimates',
    'applicable',
    known(c =>
      isAnyPositive(c.durationMinutes, c.downtimeMinutes)
        ? c.estimated
          ? 'estimates'
          : 'actual figures'
        : null,
    ),
  ],
  ['3.18', 'Kinds of impact in the Member States', 'applicable'],
  [
    '3.19',
    'How the incident is felt in other Member States',
    'applicable',
    incident => statesAffected(incident),
  ],
  ['3.20', 'Data losses', 'applicable', known(losses)],
  ['3.21', 'What the data losses are', 'applicable'],
  ['3.22', 'Critical services affected', 'always', known(c => (c.criticalServices ? 'yes' : 'no'))],
  ['3.23', 'Type of the incident', 'always', ({ category }) => CATEGORIES[category]],
  ['3.24', 'Other type of incident', 'applicable'],
  ['3.25', 'Threats and techniques of the attacker', 'applicable'],
  ['3.26', 'Other techniques', 'applicable'],
  ['3.27', 'Functional areas and business processes affected', 'always'],
  ['3.28', 'Whether infrastructure of business processes is affected', 'always'],
  ['3.29', 'Which infrastructure is affected', 'applicable'],
  ['3.30', 'Impact on the financial interest of clients', 'always'],
  [
    '3.31',
    'Reported to other authorities',
    'always',
    ({ reports }) =>
      reports.some(({ stage }) => stage === 'data_protection') ? 'data protection authority' : null,
  ],
  ['3.32', 'Which other authorities', 'applicable'],
  ['3.33', 'Temporary measures taken or planned to recover', 'always'],
  ['3.34', 'What these measures are', 'applicable'],
  ['3.35', 'Indicators of compromise', 'applicable'],
])
