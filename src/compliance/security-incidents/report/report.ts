import type { HandlerOf } from '../../../kernel/contract/operation.ts'
import type { securityIncidentsApi } from '../api.ts'
import { type ReportStage, reportingClocks } from '../clocks.ts'
import { livePlatformTenant, SecurityIncident } from '../incident.ts'
import { DERIVED_REPORT_FIELDS, type ReportContext } from './derived-fields.ts'
import { isFieldRequired, type ReportFieldSpec, reportSections } from './fields.ts'

type ReportedStage = Exclude<ReportStage, 'data_protection'>

interface ReportField {
  readonly number: string
  readonly name: string
  readonly value: string | null
  readonly isMissing: boolean
}

interface Report {
  readonly sections: { readonly title: string; readonly fields: ReportField[] }[]
  readonly missing: string[]
}

const SUBMISSIONS: Readonly<Record<ReportedStage, string>> = {
  initial: 'initial notification',
  intermediate: 'intermediate report',
  final: 'final report',
  reclassification: 'major incident reclassified as non-major',
}

const OF_RECLASSIFICATION = new Set(['1.1', '1.2', '1.3', '1.4', '1.7', '1.8', '1.9', '2.1', '2.10'])

function reportOf(incident: SecurityIncident, stage: ReportedStage, holder: string): Report {
  const about: ReportContext = { submission: SUBMISSIONS[stage], holder }
  const entryOf = (number: string): string | null =>
    incident.fields[number] ??
    DERIVED_REPORT_FIELDS[number]?.(incident, about) ??
    reclassified(incident, stage, number)
  const isAsked = (field: ReportFieldSpec): boolean =>
    stage === 'reclassification'
      ? OF_RECLASSIFICATION.has(field.number)
      : isFieldRequired(field, stage, incident, entryOf)
  const filled = reportSections.map(({ title, fields }) => ({
    title,
    fields: fields.map((field): ReportField => {
      const value = entryOf(field.number)
      return { number: field.number, name: field.name, value, isMissing: value === null && isAsked(field) }
    }),
  }))
  const missing = filled.flatMap(({ fields }) =>
    fields.flatMap(({ number, name, isMissing }) => (isMissing ? [`${number} ${name}`] : [])),
  )
  return { sections: filled, missing }
}

function reclassified({ decisions }: SecurityIncident, stage: ReportStage, number: string): string | null {
  return stage === 'reclassification' && number === '2.10' ? (decisions.at(-1)?.reasons ?? null) : null
}

export const readIncidentReport: HandlerOf<typeof securityIncidentsApi.report> = async (
  { params, query: { stage } },
  { em, now, settings, switchTenant, refuse },
) => {
  switchTenant(livePlatformTenant)
  const incident = await em.findOne(SecurityIncident, { id: params.id })
  if (!incident) return refuse('incident_not_found')
  const { sections, missing } = reportOf(incident, stage, settings.collection.holder)
  const clocks = reportingClocks(incident.clockInput(), settings.weekendRelief)
  const clock = clocks.find(one => one.stage === stage)
  return {
    incidentId: incident.id,
    stage,
    madeAt: now,
    dueAt: clock?.dueAt ?? null,
    article: clock?.article ?? null,
    isComplete: missing.length === 0,
    missing,
    sections,
  }
}
