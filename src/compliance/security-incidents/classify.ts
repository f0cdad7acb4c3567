import type { HandlerOf } from '../../kernel/contract/operation.ts'
import type { securityIncidentsApi } from './api.ts'
import { lockOpen } from './change.ts'
import { type ClockStage, clocksOf } from './clocks.ts'
import { assess } from './criteria.ts'
import { incidentEvent, incidentResponse } from './events.ts'
import { type Decision, incidentMachine, MOST_ENTRIES, SecurityIncident } from './incident.ts'
import { schedule } from './reminders.ts'
import { followReports } from './submit.ts'

/** Stores the criteria and, if given, a person's decision. Without a decision the clocks stay as they are. */
export const classify: HandlerOf<typeof securityIncidentsApi.classify> = async (
  { params, body: { criteria, decision } },
  context,
) => {
  const { now, emit, refuse } = context
  const incident = await lockOpen(params.id, context)
  if (!(incident instanceof SecurityIncident)) return incident
  const at = decision?.at ?? now
  if (at > now) return refuse('time_to_come', 'decision.at must not be in the future.')
  if (at < incident.awareAt) return refuse('invalid_date_order', 'decision.at must not be before awareAt.')
  const before = incident.decisions.at(-1)
  if (before && at < new Date(before.at))
    return refuse('invalid_date_order', `decision.at must be after the previous decision, at ${before.at}.`)
  if (incident.decisions.length >= MOST_ENTRIES) return refuse('too_many_entries')
  incident.criteria = criteria
  if (!decision) {
    emit('incident.updated', incidentEvent(incident))
    return incidentResponse(incident, context)
  }
  const { isMajor, decidedBy, reasons } = decision
  const thresholdsMet = assess(criteria).meetsThresholds
  decide(incident, { at: at.toISOString(), isMajor, decidedBy, reasons, thresholdsMet })
  schedule(incident, context)
  emit('incident.classified', incidentEvent(incident))
  return incidentResponse(incident, context)
}

/** Repeating a decision keeps the clock of the first one, so deciding again gains no time. */
function decide(incident: SecurityIncident, decision: Decision): void {
  const { isMajor, at } = decision
  if (isMajor && incident.isMajor !== true) incident.classifiedAt = new Date(at)
  if (!isMajor) incident.classifiedAt = null
  incident.isMajor = isMajor
  incident.decisions = [...incident.decisions, decision]
  followReports(incident)
}

const owedInWords: Readonly<Record<ClockStage, string>> = {
  classification: 'a decision whether it is major',
  initial: 'the initial notification',
  intermediate: 'the intermediate report',
  update: 'the intermediate report that knows of the recovery',
  final: 'the final report',
  data_protection: 'the notification of the data protection authority',
}

export const close: HandlerOf<typeof securityIncidentsApi.close> = async ({ params }, context) => {
  const { now, ports, emit, refuse } = context
  const incident = await lockOpen(params.id, context)
  if (!(incident instanceof SecurityIncident)) return incident
  if (incident.isMajor === null) return refuse('not_classified')
  const owed = outstandingReports(incident, ports.weekendRelief)
  if (owed) return refuse('reports_missing', `Outstanding: ${owed}. Submit it first.`)
  incidentMachine.move(incident, 'closed')
  incident.closedAt = now
  schedule(incident, context)
  emit('incident.closed', incidentEvent(incident))
  return incidentResponse(incident, context)
}

function outstandingReports(
  incident: SecurityIncident,
  relief: Parameters<typeof clocksOf>[1],
): string | undefined {
  const open = clocksOf(incident.clockInput(), relief).find(({ doneAt }) => doneAt === null)
  if (open) return owedInWords[open.stage]
  const isTakenBack = incident.isMajor === false && incident.hasReported('initial')
  return isTakenBack && !incident.hasReported('reclassification')
    ? 'the report that it was reclassified as not major'
    : undefined
}
