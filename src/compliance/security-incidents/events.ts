import { z } from 'zod'
import type { ReadContext } from '../../kernel/contract/context.ts'
import { declareEvent } from '../../kernel/contract/events.ts'
import { withMembers } from '../../kernel/database/entity.ts'
import { instant } from '../../values/clock.ts'
import { id } from '../../values/ids.ts'
import { reportingClockStages, reportingClocks, reportStages } from './clocks.ts'
import { assessIncidentSeverity } from './criteria.ts'
import {
  incidentCategories,
  incidentSeverities,
  type SecurityIncident,
  securityIncidentMachine,
} from './incident.ts'
import { reportReminderKinds } from './reminders.ts'

/** Events leave the service, so they omit what happened. */
const IncidentEvent = z.object({
  incidentId: id('incident'),
  status: z.enum(securityIncidentMachine.states),
  severity: z.enum(incidentSeverities),
  category: z.enum(incidentCategories),
  isMajor: z.boolean().nullable(),
})

const Due = IncidentEvent.extend({
  stage: z.enum(reportingClockStages).meta({ description: 'The report that is due.' }),
  dueAt: instant,
  article: z.string().meta({ description: 'The rule that sets the time.' }),
  reminder: z.enum(reportReminderKinds),
  advice: z.string(),
})

export const incidentEvents = {
  'incident.opened': declareEvent('A security incident was reported to the operator.', IncidentEvent),
  'incident.updated': declareEvent('A security incident was updated.', IncidentEvent),
  'incident.classified': declareEvent(
    'A person has decided whether a security incident is major.',
    IncidentEvent,
  ),
  'incident.report_due': declareEvent('A report on a security incident is due soon.', Due),
  'incident.report_overdue': declareEvent('The deadline of a report on a security incident has passed.', Due),
  'incident.report_submitted': declareEvent(
    'A report on a security incident was submitted to the authority.',
    IncidentEvent.extend({ stage: z.enum(reportStages), at: instant }),
  ),
  'incident.closed': declareEvent('A security incident is closed.', IncidentEvent),
}

export const incidentEvent = (incident: SecurityIncident): z.output<typeof IncidentEvent> => ({
  incidentId: incident.id,
  status: incident.status,
  severity: incident.severity,
  category: incident.category,
  isMajor: incident.isMajor,
})

export function incidentResponse(incident: SecurityIncident, { ports, now }: ReadContext) {
  const clocks = reportingClocks(incident.clockInput(), ports.weekendRelief)
  const { criteria } = incident
  return withMembers(incident, {
    clocks: clocks.map(clock => ({
      ...clock,
      isOverdue: clock.doneAt === null ? clock.dueAt < now : clock.doneAt > clock.dueAt,
    })),
    assessment: criteria && withLists(assessIncidentSeverity(criteria)),
    decisions: [...incident.decisions],
    reports: [...incident.reports],
  })
}

const withLists = ({ findings, ...rest }: ReturnType<typeof assessIncidentSeverity>) => ({
  ...rest,
  findings: findings.map(({ reasons, ...finding }) => ({ ...finding, reasons: [...reasons] })),
})
