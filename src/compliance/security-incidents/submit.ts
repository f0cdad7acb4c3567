import type { Context } from '../../kernel/contract/context.ts'
import type { HandlerOf } from '../../kernel/contract/operation.ts'
import type { Refusal } from '../../kernel/contract/problem.ts'
import type { securityIncidentsApi } from './api.ts'
import { lockOpenIncident } from './change.ts'
import { type ReportStage, reportStages } from './clocks.ts'
import { incidentEvent, incidentResponse } from './events.ts'
import {
  type IncidentStatus,
  MAX_INCIDENT_ENTRIES,
  SecurityIncident,
  type SubmittedReport,
  securityIncidentMachine,
} from './incident.ts'
import { scheduleNextReminder } from './reminders.ts'

const isStage = (name: string): name is ReportStage => (reportStages as readonly string[]).includes(name)

const ORDER = ['initial', 'intermediate', 'final'] as const
type Ordered = (typeof ORDER)[number]
const isOrdered = (stage: ReportStage): stage is Ordered => (ORDER as readonly string[]).includes(stage)

type Submitting = Context<
  | 'not_major'
  | 'not_reclassified'
  | 'no_personal_data'
  | 'already_submitted'
  | 'earlier_report_missing'
  | 'covers_later_report'
  | 'invalid_date_order'
  | 'time_to_come'
  | 'too_many_entries'
>

interface Submission {
  readonly stage: ReportStage
  readonly at: Date
  readonly covers: readonly Ordered[]
}

export const recordSubmittedReport: HandlerOf<typeof securityIncidentsApi.submit> = async (
  { params, body },
  context,
) => {
  const { emit, refuse } = context
  const { at, reference, covers } = body
  const { stage } = params
  if (!isStage(stage)) return refuse('stage_not_found')
  const incident = await lockOpenIncident(params.id, context)
  if (!(incident instanceof SecurityIncident)) return incident
  const submission = { stage, at, covers }
  const problem = timeProblem(incident, at, context) ?? problemOf(incident, submission, context)
  if (problem) return problem
  const stages = [...new Set<ReportStage>([...covers, stage])]
  const isJoint = stages.length > 1
  const reports = stages.map(
    (one): SubmittedReport => ({ stage: one, at: at.toISOString(), reference, isJoint }),
  )
  incident.reports = [...incident.reports, ...reports]
  updateStatusFromReports(incident)
  scheduleNextReminder(incident, context)
  for (const one of stages) emit('incident.report_submitted', { ...incidentEvent(incident), stage: one, at })
  return incidentResponse(incident, context)
}

function timeProblem(incident: SecurityIncident, at: Date, { now, refuse }: Submitting): Refusal | undefined {
  if (at > now) return refuse('time_to_come', 'at must not be in the future.')
  if (at < incident.awareAt) return refuse('invalid_date_order', 'at must not be before awareAt.')
  return incident.reports.length + ORDER.length > MAX_INCIDENT_ENTRIES
    ? refuse('too_many_entries')
    : undefined
}

function problemOf(
  incident: SecurityIncident,
  submission: Submission,
  context: Submitting,
): Refusal | undefined {
  const { stage, covers } = submission
  const { refuse } = context
  if (isOrdered(stage)) return problemOfMajor(incident, { ...submission, stage }, context)
  if (covers.length > 0) return refuse('covers_later_report', `covers: ${stage} covers no other report.`)
  if (incident.hasReported(stage)) return refuse('already_submitted')
  if (stage === 'data_protection')
    return incident.personalDataAwareAt ? undefined : refuse('no_personal_data')
  return incident.isMajor === false && incident.hasReported('initial')
    ? undefined
    : refuse('not_reclassified')
}

function problemOfMajor(
  incident: SecurityIncident,
  { stage, at, covers }: Submission & { readonly stage: Ordered },
  { refuse }: Submitting,
): Refusal | undefined {
  if (incident.isMajor !== true) return refuse('not_major')
  if (covers.some(one => ORDER.indexOf(one) >= ORDER.indexOf(stage))) return refuse('covers_later_report')
  for (const one of [...covers, stage])
    if (one !== 'intermediate' && incident.hasReported(one))
      return refuse('already_submitted', `The ${one} report was already submitted.`)
  for (const earlier of ORDER.slice(0, ORDER.indexOf(stage))) {
    if (covers.includes(earlier)) continue
    const before = incident.reports.filter(report => report.stage === earlier)
    if (before.length === 0)
      return refuse(
        'earlier_report_missing',
        `The ${earlier} report was not submitted: record that one first, or name it in covers.`,
      )
    if (!before.some(report => new Date(report.at) <= at))
      return refuse('invalid_date_order', `at: the ${earlier} report was submitted later than this.`)
  }
  return undefined
}

/** The status is the furthest report of a major incident, in any order of recording. */
export function updateStatusFromReports(incident: SecurityIncident): void {
  const furthest = ORDER.findLast(stage => incident.hasReported(stage))
  const isReported = incident.isMajor === true && furthest !== undefined
  const status: IncidentStatus = isReported ? `${furthest}_submitted` : 'classified'
  if (status !== incident.status) securityIncidentMachine.move(incident, status)
}
