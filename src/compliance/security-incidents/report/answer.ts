import { z } from 'zod'
import type { bundlePdf } from '../../../commerce/disputes/thread.ts'
import type { File } from '../../../kernel/contract/file.ts'
import type { HandlerOf } from '../../../kernel/contract/operation.ts'
import type { Ports } from '../../../kernel/contract/ports.ts'
import type { securityIncidentsApi } from '../api.ts'
import { clocksOf } from '../clocks.ts'
import { platform, SecurityIncident } from '../incident.ts'
import { ReportRecord } from '../schemas.ts'
import { pdfInput } from './pdf-input.ts'
import { type Report, type ReportedStage, reportOf } from './report.ts'

const TITLES: Readonly<Record<ReportedStage, string>> = {
  initial: 'Initial notification of a major incident',
  intermediate: 'Intermediate report on a major incident',
  final: 'Final report on a major incident',
  reclassification: 'Incident reclassified as not major',
}

export const report: HandlerOf<typeof securityIncidentsApi.report> = async ({ params, query }, context) => {
  const { records, now, ports, refuse } = context
  context.actFor(platform)
  const incident = await records.findOne(SecurityIncident, { id: params.id })
  if (!incident) return refuse('incident_not_found')
  const { stage, format } = query
  const filled = reportOf(incident, stage, ports.collection.holder)
  const clock = clocksOf(incident.course(), ports.weekendRelief).find(one => one.stage === stage)
  const about = {
    incidentId: incident.id,
    stage,
    madeAt: now,
    dueAt: clock?.dueAt ?? null,
    article: clock?.article ?? null,
  }
  return format === 'json' ? asJson(filled, about) : asPdf(filled, about, ports)
}

interface About extends Pick<z.output<typeof ReportRecord>, 'incidentId' | 'madeAt' | 'dueAt' | 'article'> {
  readonly stage: ReportedStage
}

function asJson({ sections, missing }: Report, about: About): File {
  const record = z.encode(ReportRecord, {
    ...about,
    isComplete: missing.length === 0,
    missing: [...missing],
    sections: sections.map(({ title, fields }) => ({ title, fields: [...fields] })),
  })
  return { type: 'application/json; charset=utf-8', content: JSON.stringify(record) }
}

/** Laid out in a thread, while the answer is sent. */
function asPdf(
  filled: Report,
  about: About,
  { threads, collection }: Pick<Ports, 'threads' | 'collection'>,
): File {
  const input = pdfInput(filled, { ...about, title: TITLES[about.stage], holder: collection.holder })
  const module = new URL('../../../commerce/disputes/thread.ts', import.meta.url)
  const task = { module, name: 'bundlePdf', owner: platform.ownerId }
  const content = (async function* () {
    const { pdf } = await threads.run<typeof bundlePdf>(task, input, [])
    yield pdf
  })()
  return { type: 'application/pdf', content, name: `${about.incidentId}-${about.stage}.pdf` }
}
