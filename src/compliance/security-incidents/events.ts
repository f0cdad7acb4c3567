import { z } from 'zod'
import type { Context } from '../../kernel/contract/context.ts'
import { event } from '../../kernel/contract/events.ts'
import { withMembers } from '../../kernel/database/entity.ts'
import { instant } from '../../values/clock.ts'
import { id } from '../../values/ids.ts'
import { clockStages, clocksOf, reportStages } from './clocks.ts'
import { assess } from './criteria.ts'
import { categories, incidentMachine, type SecurityIncident, severities } from './incident.ts'
import { reminderKinds } from './reminders.ts'

/** Events leave the service, so they omit what happened. */
const IncidentEvent = z.object({
  incidentId: id('incident'),
  status: z.enum(incidentMachine.states),
  severity: z.enum(severities),
  category: z.enum(categories),
  isMajor: z.boolean().nullable(),
})

const Due = IncidentEvent.extend({
  stage: z.enum(clockStages).meta({ description: 'What is owed.' }),
  dueAt: instant,
  article: z.string().meta({ description: 'The rule that sets the time.' }),
  reminder: z.enum(reminderKinds),
  advice: z.string(),
})

export const incidentEvents = {
  'incident.opened': event('A security incident was reported to the operator.', IncidentEvent),
  'incident.updated': event('A security incident was updated.', IncidentEvent),
  'incident.classified': event('A person has decided whether a security incident is major.', IncidentEvent),
  'incident.report_due': event('A report on a security incident is due soon.', Due),
  'incident.report_overdue': event('The deadline of a report on a security incident has passed.', Due),
  'incident.report_submitted': event(
    'A report on a security incident was submitted to the authority.',
    IncidentEvent.extend({ stage: z.enum(reportStages), at: instant }),
  ),
  'incident.closed': event('A security incident is closed.', IncidentEvent),
}

export const incidentEvent = (incident: SecurityIncident): z.output<typeof IncidentEvent> => ({
  incidentId: incident.id,
  status: incident.status,
  severity: incident.severity,
  category: incident.category,
  isMajor: incident.isMajor,
})

export function incidentResponse(incident: SecurityIncident, { ports, now }: Pick<Context, 'ports' | 'now'>) {
  const clocks = clocksOf(incident.clockInput(), ports.weekendRelief)
  const { criteria } = incident
  return withMembers(incident, {
    clocks: clocks.map(clock => ({
      ...clock,
      isOverdue: clock.doneAt === null ? clock.dueAt < now : clock.doneAt > clock.dueAt,
    })),
    assessment: criteria && withLists(assess(criteria)),
    decisions: [...incident.decisions],
    reports: [...incident.reports],
  })
}

const withLists = ({ findings, ...rest }: ReturnType<typeof assess>) => ({
  ...rest,
  findings: findings.map(({ reasons, ...finding }) => ({ ...finding, reasons: [...reasons] })),
})
