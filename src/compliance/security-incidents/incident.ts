import { defineEntity, p } from '@mikro-orm/core'
import { PLATFORM_OWNER_ID } from '../../identity/customers/index.ts'
import type { Tenant } from '../../kernel/contract/actor.ts'
import { stateMachine } from '../../kernel/contract/machine.ts'
import { nullable, recordColumns, tenantTable, textArrayColumn } from '../../kernel/database/entity.ts'
import { personal, plain } from '../../kernel/database/personal.ts'
import type { ReportingClockInput, ReportStage } from './clocks.ts'
import type { ClassificationCriteria } from './criteria.ts'

/**
 * A major incident is reported in stages, and one submission may cover several. An incident that proves not
 * to be major goes back to `classified` and can be closed.
 */
export const securityIncidentMachine = stateMachine('security_incident', {
  detected: ['classified'],
  classified: ['initial_submitted', 'intermediate_submitted', 'final_submitted', 'closed'],
  initial_submitted: ['intermediate_submitted', 'final_submitted', 'classified'],
  intermediate_submitted: ['final_submitted', 'classified'],
  final_submitted: ['classified', 'closed'],
  closed: [],
})
export type IncidentStatus = (typeof securityIncidentMachine.states)[number]

/** Incidents belong to the platform and use real time. */
export const livePlatformTenant: Tenant = { ownerId: PLATFORM_OWNER_ID, mode: 'live' }

export const incidentSeverities = ['low', 'medium', 'high', 'critical'] as const

/** An incident of several kinds is `other`, with a description. */
export const incidentCategories = [
  'cybersecurity',
  'process_failure',
  'system_failure',
  'external_event',
  'payment_related',
  'other',
] as const

export interface ClassificationDecision {
  readonly at: string
  readonly isMajor: boolean
  readonly decidedBy: string
  readonly reasons: string
  readonly thresholdsMet: boolean
}

export interface SubmittedReport {
  readonly stage: ReportStage
  readonly at: string
  readonly reference: string
  readonly isJoint: boolean
}

export const MAX_INCIDENT_ENTRIES = 100

export const OPEN_INCIDENT_SQL = "status <> 'closed'"

function majorBefore(decisions: readonly ClassificationDecision[]): number {
  let used = 0
  let since: number | null = null
  for (const { isMajor, at } of decisions) {
    const time = Date.parse(at)
    if (isMajor) since ??= time
    else {
      used += since === null ? 0 : Math.max(0, time - since)
      since = null
    }
  }
  return used
}

const schema = defineEntity({
  ...tenantTable('SecurityIncident', 'security_incidents'),
  properties: {
    ...recordColumns('incident'),
    status: p.enum(securityIncidentMachine.states).onCreate(() => securityIncidentMachine.initial),
    severity: plain(p.enum(incidentSeverities)),
    category: plain(p.enum(incidentCategories)),
    description: personal(p.text(), 'words', 'security', 'word'),
    detectedAt: p.datetime().columnType('timestamptz(3)'),
    awareAt: p.datetime().columnType('timestamptz(3)'),
    occurredAt: nullable.instant(),
    recoveredAt: nullable.instant(),
    resolvedAt: nullable.instant(),
    affectedUsers: nullable.integer(),
    countries: plain(textArrayColumn()),
    personalDataAwareAt: nullable.instant(),
    criteria: plain(nullable.json<ClassificationCriteria>()),
    isMajor: p
      .boolean()
      .$type<boolean | null>()
      .strictNullable()
      .onCreate(() => null),
    classifiedAt: nullable.instant(),
    decisions: personal(
      p.json<readonly ClassificationDecision[]>().onCreate(() => []),
      'name',
      'security',
      'empty',
    ),
    reports: plain(p.json<readonly SubmittedReport[]>().onCreate(() => [])),
    fields: personal(
      p.json<Readonly<Record<string, string>>>().onCreate(() => ({})),
      'contact',
      'security',
      'empty',
    ),
    reminded: plain(textArrayColumn()),
    closedAt: nullable.instant(),
    dueAt: nullable.instant(),
    workflowId: p.text(),
  },
})

export class SecurityIncident extends schema.class {
  clockInput(): ReportingClockInput {
    const { awareAt, classifiedAt, isMajor, recoveredAt, personalDataAwareAt, reports } = this
    const told = reports.map(({ stage, at }) => ({ stage, at: new Date(at) }))
    const usedMs = majorBefore(this.decisions)
    return { awareAt, classifiedAt, usedMs, isMajor, recoveredAt, personalDataAwareAt, reports: told }
  }

  hasReported(stage: ReportStage): boolean {
    return this.reports.some(report => report.stage === stage)
  }
}
schema.setClass(SecurityIncident)
