import { describe, expect, test } from '@jest/globals'
import {
  assessIncidentSeverity,
  type ClassificationCriteria,
  classificationCriteriaSchema,
} from '../../../src/compliance/security-incidents/criteria.ts'

const known = (members: Partial<ClassificationCriteria>) =>
  assessIncidentSeverity(classificationCriteriaSchema.parse({ criticalServices: true, ...members }))

const isMet = (criterion: string, members: Partial<ClassificationCriteria>) =>
  known(members).findings.find(finding => finding.criterion === criterion)?.isMet

/** Delegated Regulation (EU) 2024/1772: at each threshold, and one step above it. */
const THRESHOLDS: readonly (readonly [
  article: string,
  criterion: string,
  at: Partial<ClassificationCriteria>,
  beyond: Partial<ClassificationCriteria>,
])[] = [
  [
    '9(1)(a)',
    'clients_counterparts_transactions',
    { clientsAffected: 100, clientsOfService: 1_000 },
    { clientsAffected: 101, clientsOfService: 1_000 },
  ],
  [
    '9(1)(b)',
    'clients_counterparts_transactions',
    { clientsAffected: 100_000 },
    { clientsAffected: 100_001 },
  ],
  [
    '9(1)(c)',
    'clients_counterparts_transactions',
    { counterpartsAffected: 3, counterpartsOfService: 10 },
    { counterpartsAffected: 4, counterpartsOfService: 10 },
  ],
  [
    '9(1)(d)',
    'clients_counterparts_transactions',
    { transactionsAffected: 10, transactionsADay: 100 },
    { transactionsAffected: 11, transactionsADay: 100 },
  ],
  [
    '9(1)(e)',
    'clients_counterparts_transactions',
    { transactionsAffectedEuros: 10, transactionsADayEuros: 100 },
    { transactionsAffectedEuros: 10.01, transactionsADayEuros: 100 },
  ],
  ['9(1)(f)', 'clients_counterparts_transactions', {}, { relevantClientsAffected: true }],
  ['9(2)', 'reputation', {}, { inMedia: true }],
  ['9(3)(a)', 'duration_and_downtime', { durationMinutes: 1_440 }, { durationMinutes: 1_441 }],
  ['9(3)(b)', 'duration_and_downtime', { downtimeMinutes: 120 }, { downtimeMinutes: 121 }],
  ['9(4)', 'geographical_spread', { memberStates: ['DE', 'DE', 'US'] }, { memberStates: ['DE', 'AT'] }],
  ['9(5)(a)', 'data_losses', {}, { dataLosses: true }],
  ['9(5)(b)', 'malicious_access', {}, { maliciousAccess: true }],
  ['9(6)', 'economic_impact', { costsEuros: 100_000 }, { costsEuros: 100_000.01 }],
]

describe('the thresholds of a major incident', () => {
  test.each(THRESHOLDS)('Article %s', (_, criterion, at, beyond) => {
    expect([isMet(criterion, at), isMet(criterion, beyond)]).toEqual([false, true])
  })

  test('downtime counts of services that support critical or important functions', () => {
    expect(isMet('duration_and_downtime', { criticalServices: false, downtimeMinutes: 500 })).toBe(false)
  })

  test('are met by critical services and two others', () => {
    expect(known({ inMedia: true }).meetsThresholds).toBe(false)
    const both = known({ inMedia: true, costsEuros: 200_000 })
    expect([both.meetsThresholds, both.reason]).toEqual([true, expect.stringContaining('8(1)(b)')])
  })

  test('are met by critical services and a malicious access alone', () => {
    expect(known({ maliciousAccess: true }).meetsThresholds).toBe(true)
  })

  test('are not met where no critical services are affected, however large the rest', () => {
    const large = { inMedia: true, costsEuros: 200_000, maliciousAccess: true, dataLosses: true }
    expect(known({ ...large, criticalServices: false }).meetsThresholds).toBe(false)
  })

  test('are met by incidents that come again', () => {
    expect(known({ criticalServices: false, recurring: true }).meetsThresholds).toBe(true)
  })

  test('give a reason for each criterion, with the numbers that were compared', () => {
    const { findings } = known({ clientsAffected: 1_200, clientsOfService: 9_000 })
    expect(findings).toHaveLength(9)
    expect(findings.flatMap(({ reasons }) => reasons)).toContain(
      '1200 of 9000 clients (13.3 %): more than 10 %.',
    )
    for (const { article, reasons } of findings)
      expect([article, reasons.length > 0]).toEqual([expect.stringMatching(/2024\/1772, Article \d/), true])
  })
})
