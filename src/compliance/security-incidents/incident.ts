import { defineEntity, p } from '@mikro-orm/core'
import { PLATFORM_OWNER } from '../../identity/customers/index.ts'
import type { Tenant } from '../../kernel/contract/actor.ts'
import { machine } from '../../kernel/contract/machine.ts'
import { nullable, record, tenantTable, textArray } from '../../kernel/database/entity.ts'
import type { Personal } from '../../values/personal.ts'
import type { ClockInput, ReportStage } from './clocks.ts'
import type { Criteria } from './criteria.ts'

/**
 * A major incident is reported in stages, and one submission may cover several. An incident that proves not
 * to be major goes back to `classified` and can be closed.
 */
export const incidentMachine = machine('security_incident', {
  detected: ['classified'],
  classified: ['initial_submitted', 'intermediate_submitted', 'final_submitted', 'closed'],
  initial_submitted: ['intermediate_submitted', 'final_submitted', 'classified'],
  intermediate_submitted: ['final_submitted', 'classified'],
  final_submitted: ['classified', 'closed'],
  closed: [],
})
export type IncidentStatus = (typeof incidentMachine.states)[number]

/** Incidents belong to the platform and use real time. */
export const platform: Tenant = { ownerId: PLATFORM_OWNER, mode: 'live' }

export const severities = ['low', 'medium', 'high', 'critical'] as const

/** An incident of several kinds is `other`, with a description. */
export const categories = [
  'cybersecurity',
  'process_failure',
  'system_failure',
  'external_event',
  'payment_related',
  'other',
] as const

export interface Decision {
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

export const MOST_ENTRIES = 100

export const OPEN = "status <> 'closed'"

function majorBefore(decisions: readonly Decision[]): number {
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
    ...record('incident'),
    status: p.enum(incidentMachine.states).onCreate(() => incidentMachine.initial),
    severity: p.enum(severities),
    category: p.enum(categories),
    description: p.text(),
    detectedAt: p.datetime().columnType('timestamptz(3)'),
    awareAt: p.datetime().columnType('timestamptz(3)'),
    occurredAt: nullable.instant(),
    recoveredAt: nullable.instant(),
    resolvedAt: nullable.instant(),
    affectedUsers: nullable.integer(),
    countries: textArray(),
    personalDataAwareAt: nullable.instant(),
    criteria: nullable.json<Criteria>(),
    isMajor: p
      .boolean()
      .$type<boolean | null>()
      .strictNullable()
      .onCreate(() => null),
    classifiedAt: nullable.instant(),
    decisions: p.json<readonly Decision[]>().onCreate(() => []),
    reports: p.json<readonly SubmittedReport[]>().onCreate(() => []),
    fields: p.json<Readonly<Record<string, string>>>().onCreate(() => ({})),
    reminded: textArray(),
    closedAt: nullable.instant(),
    dueAt: nullable.instant(),
    workflowId: p.text(),
  },
})

export class SecurityIncident extends schema.class {
  clockInput(): ClockInput {
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

export const securityIncidentsPersonal = {
  security_incidents: {
    personal: {
      description: { kind: 'words', ground: 'security', forget: 'word' },
      decisions: { kind: 'name', ground: 'security', forget: 'empty' },
      fields: { kind: 'contact', ground: 'security', forget: 'empty' },
    },
    plain: ['severity', 'category', 'countries', 'criteria', 'reports', 'reminded'],
  },
} as const satisfies Personal
