import { z } from 'zod'
import type { bundlePdf } from '../../../commerce/disputes/thread.ts'
import type { ResponseFile } from '../../../kernel/contract/file.ts'
import type { HandlerOf } from '../../../kernel/contract/operation.ts'
import type { Ports } from '../../../kernel/contract/ports.ts'
import type { securityIncidentsApi } from '../api.ts'
import { type ReportStage, reportingClocks } from '../clocks.ts'
import { livePlatformTenant, SecurityIncident } from '../incident.ts'
import { IncidentReportRecord } from '../schemas.ts'
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
  readonly sections: readonly { readonly title: string; readonly fields: readonly ReportField[] }[]
  readonly missing: readonly string[]
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

type PdfInput = Parameters<typeof bundlePdf>[0]

interface PdfTitle {
  readonly incidentId: string
  readonly title: string
  readonly holder: string
  readonly madeAt: Date
  readonly dueAt: Date | null
  readonly article: string | null
}

const minuteOf = (at: Date): string => `${at.toISOString().slice(0, 16).replace('T', ' ')} UTC`

const COLUMNS = [
  { name: 'No.', share: 0.07 },
  { name: 'Field', share: 0.38 },
  { name: 'Entry', share: 0.55 },
] as const

const rowOf = ({ number, name, value, isMissing }: ReportField): readonly string[] => [
  number,
  name,
  value ?? (isMissing ? 'MISSING' : '–'),
]

function pdfInput({ sections, missing }: Report, about: PdfTitle): PdfInput {
  const { incidentId, title, holder, madeAt, dueAt, article } = about
  const standing = missing.length === 0 ? 'complete' : `${missing.length} fields are missing`
  return {
    title,
    subtitle: `${holder} · ${standing}`,
    author: holder,
    foot: `${incidentId} · as known at ${minuteOf(madeAt)}`,
    madeAt: madeAt.toISOString(),
    sections: [
      {
        title: 'Deadline',
        blocks: [
          {
            kind: 'facts',
            rows: [
              ['Due', dueAt ? minuteOf(dueAt) : 'no clock runs'],
              ['Rule', article ?? '–'],
            ],
          },
        ],
      },
      ...(missing.length > 0
        ? [{ title: 'Missing', blocks: [{ kind: 'text' as const, text: missing.join('\n') }] }]
        : []),
      ...sections.map(section => ({
        title: section.title,
        blocks: [{ kind: 'table' as const, columns: COLUMNS, rows: section.fields.map(rowOf) }],
      })),
    ],
    pictures: [],
  }
}

const TITLES: Readonly<Record<ReportedStage, string>> = {
  initial: 'Initial notification of a major incident',
  intermediate: 'Intermediate report on a major incident',
  final: 'Final report on a major incident',
  reclassification: 'Incident reclassified as not major',
}

export const downloadIncidentReport: HandlerOf<typeof securityIncidentsApi.report> = async (
  { params, query },
  context,
) => {
  const { em, now, settings, refuse } = context
  context.switchTenant(livePlatformTenant)
  const incident = await em.findOne(SecurityIncident, { id: params.id })
  if (!incident) return refuse('incident_not_found')
  const { stage, format } = query
  const filled = reportOf(incident, stage, settings.collection.holder)
  const clock = reportingClocks(incident.clockInput(), settings.weekendRelief).find(
    one => one.stage === stage,
  )
  const about = {
    incidentId: incident.id,
    stage,
    madeAt: now,
    dueAt: clock?.dueAt ?? null,
    article: clock?.article ?? null,
  }
  return format === 'json' ? asJson(filled, about) : asPdf(filled, about, context)
}

interface ReportHead
  extends Pick<z.output<typeof IncidentReportRecord>, 'incidentId' | 'madeAt' | 'dueAt' | 'article'> {
  readonly stage: ReportedStage
}

function asJson({ sections, missing }: Report, about: ReportHead): ResponseFile {
  const record = z.encode(IncidentReportRecord, {
    ...about,
    isComplete: missing.length === 0,
    missing: [...missing],
    sections: sections.map(({ title, fields }) => ({ title, fields: [...fields] })),
  })
  return { type: 'application/json; charset=utf-8', content: JSON.stringify(record) }
}

function asPdf(
  filled: Report,
  about: ReportHead,
  { systems, settings }: Pick<Ports, 'systems' | 'settings'>,
): ResponseFile {
  const input = pdfInput(filled, { ...about, title: TITLES[about.stage], holder: settings.collection.holder })
  const module = new URL('../../../commerce/disputes/thread.ts', import.meta.url)
  const task = { module, name: 'bundlePdf', owner: livePlatformTenant.ownerId }
  const content = (async function* () {
    const { pdf } = await systems.threads.run<typeof bundlePdf>(task, input, [])
    yield pdf
  })()
  return { type: 'application/pdf', content, name: `${about.incidentId}-${about.stage}.pdf` }
}
