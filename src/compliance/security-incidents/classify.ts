import type { HandlerOf } from '../../kernel/contract/operation.ts'
import type { securityIncidentsApi } from './api.ts'
import { lockOpenIncident } from './change.ts'
import { type ReportingClockStage, reportingClocks } from './clocks.ts'
import { assessIncidentSeverity } from './criteria.ts'
import { incidentEvent, incidentResponse } from './events.ts'
import {
  type ClassificationDecision,
  MAX_INCIDENT_ENTRIES,
  SecurityIncident,
  securityIncidentMachine,
} from './incident.ts'
import { scheduleNextReminder } from './reminders.ts'
import { updateStatusFromReports } from './submit.ts'

/** Stores the criteria and, if given, a person's decision. Without a decision the clocks stay as they are. */
export const classifyIncident: HandlerOf<typeof securityIncidentsApi.classify> = async (
  { params, body: { criteria, decision } },
  context,
) => {
  const { now, emit, refuse } = context
  const incident = await lockOpenIncident(params.id, context)
  if (!(incident instanceof SecurityIncident)) return incident
  const at = decision?.at ?? now
  if (at > now) return refuse('time_to_come', 'decision.at must not be in the future.')
  if (at < incident.awareAt) return refuse('invalid_date_order', 'decision.at must not be before awareAt.')
  const before = incident.decisions.at(-1)
  if (before && at < new Date(before.at))
    return refuse('invalid_date_order', `decision.at must be after the previous decision, at ${before.at}.`)
  if (incident.decisions.length >= MAX_INCIDENT_ENTRIES) return refuse('too_many_entries')
  incident.criteria = criteria
  if (!decision) {
    emit('incident.updated', incidentEvent(incident))
    return incidentResponse(incident, context)
  }
  const { isMajor, decidedBy, reasons } = decision
  const thresholdsMet = assessIncidentSeverity(criteria).meetsThresholds
  decide(incident, { at: at.toISOString(), isMajor, decidedBy, reasons, thresholdsMet })
  scheduleNextReminder(incident, context)
  emit('incident.classified', incidentEvent(incident))
  return incidentResponse(incident, context)
}

/** Repeating a decision keeps the clock of the first one, so deciding again gains no time. */
function decide(incident: SecurityIncident, decision: ClassificationDecision): void {
  const { isMajor, at } = decision
  if (isMajor && incident.isMajor !== true) incident.classifiedAt = new Date(at)
  if (!isMajor) incident.classifiedAt = null
  incident.isMajor = isMajor
  incident.decisions = [...incident.decisions, decision]
  updateStatusFromReports(incident)
}

const owedInWords: Readonly<Record<ReportingClockStage, string>> = {
  classification: 'a decision whether it is major',
  initial: 'the initial notification',
  intermediate: 'the intermediate report',
  update: 'the intermediate report that knows of the recovery',
  final: 'the final report',
  data_protection: 'the notification of the data protection authority',
}

export const closeIncident: HandlerOf<typeof securityIncidentsApi.close> = async ({ params }, context) => {
  const { now, settings, emit, refuse } = context
  const incident = await lockOpenIncident(params.id, context)
  if (!(incident instanceof SecurityIncident)) return incident
  if (incident.isMajor === null) return refuse('not_classified')
  const owed = outstandingReports(incident, settings.weekendRelief)
  if (owed) return refuse('reports_missing', `Outstanding: ${owed}. Submit it first.`)
  securityIncidentMachine.move(incident, 'closed')
  incident.closedAt = now
  scheduleNextReminder(incident, context)
  emit('incident.closed', incidentEvent(incident))
  return incidentResponse(incident, context)
}

function outstandingReports(
  incident: SecurityIncident,
  relief: Parameters<typeof reportingClocks>[1],
): string | undefined {
  const open = reportingClocks(incident.clockInput(), relief).find(({ doneAt }) => doneAt === null)
  if (open) return owedInWords[open.stage]
  const isTakenBack = incident.isMajor === false && incident.hasReported('initial')
  return isTakenBack && !incident.hasReported('reclassification')
    ? 'the report that it was reclassified as not major'
    : undefined
}
