import type { HandlerOf } from '../../kernel/contract/operation.ts'
import type { securityIncidentsApi } from './api.ts'
import { lockOpen } from './change.ts'
import { type ClockStage, clocksOf } from './clocks.ts'
import { incidentEvent } from './events.ts'
import { SecurityIncident } from './incident.ts'
import { incidentResponse } from './response.ts'
import { schedule } from './schedule.ts'
import { incidentMachine } from './states.ts'

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
  const owed = owedBy(incident, ports.weekendRelief)
  if (owed) return refuse('reports_missing', `Still owed is ${owed}. Submit it first.`)
  incidentMachine.move(incident, 'closed')
  incident.closedAt = now
  schedule(incident, context)
  emit('incident.closed', incidentEvent(incident))
  return incidentResponse(incident, context)
}

/** What is owed to an authority, in words; undefined where nothing is. */
function owedBy(incident: SecurityIncident, relief: Parameters<typeof clocksOf>[1]): string | undefined {
  const open = clocksOf(incident.course(), relief).find(({ doneAt }) => doneAt === null)
  if (open) return owedInWords[open.stage]
  const isTakenBack = incident.isMajor === false && incident.hasReported('initial')
  return isTakenBack && !incident.hasReported('reclassification')
    ? 'the report that it was reclassified as not major'
    : undefined
}
