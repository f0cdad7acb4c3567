import type { Context } from '../../kernel/contract/context.ts'
import type { SecurityIncident } from './incident.ts'
import { incidentProcess } from './process.ts'
import { openReminders, type Reminder } from './reminders.ts'

type Scheduling = Pick<Context, 'ports' | 'wake'>

export const remindersLeft = (
  incident: SecurityIncident,
  { ports }: Pick<Context, 'ports'>,
): readonly Reminder[] =>
  incident.status === 'closed' ? [] : openReminders(incident.reminded, incident.course(), ports.weekendRelief)

/** Sets when somebody is reminded next, which deadline and process share, and wakes the process. */
export function schedule(incident: SecurityIncident, context: Scheduling): void {
  incident.dueAt = remindersLeft(incident, context)[0]?.at ?? null
  context.wake(incidentProcess, { id: incident.id, agentId: null, about: incident.severity })
}
