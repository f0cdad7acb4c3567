import type { ReadContext, WriteContext } from '../../kernel/contract/context.ts'
import { addMs, minutes } from '../../values/clock.ts'
import { type ReportingClock, reportingClocks } from './clocks.ts'
import type { SecurityIncident } from './incident.ts'
import { incidentProcess } from './process.ts'

export const reportReminderKinds = ['half_time', 'one_hour', 'at_once', 'overdue'] as const
type ReminderKind = (typeof reportReminderKinds)[number]

export interface ReportReminder {
  readonly clock: ReportingClock
  readonly kind: ReminderKind
  readonly at: Date
  /** A stable name per deadline: a deadline that moves has reminders of its own. */
  readonly name: string
}

const reminder = (clock: ReportingClock, kind: ReminderKind, at: Date): ReportReminder => ({
  clock,
  kind,
  at,
  name: `${clock.stage}/${clock.dueAt.toISOString()}/${kind}`,
})

/** At half time, an hour before, and at the deadline. An immediate deadline has one reminder. */
function remindersOf(clock: ReportingClock): ReportReminder[] {
  const { beginsAt, dueAt, doneAt } = clock
  if (doneAt) return []
  if (dueAt <= beginsAt) return [reminder(clock, 'at_once', dueAt)]
  const half = addMs(beginsAt, (dueAt.getTime() - beginsAt.getTime()) / 2)
  const oneHour = addMs(dueAt, -minutes(60))
  return [
    reminder(clock, 'half_time', half),
    ...(oneHour > half ? [reminder(clock, 'one_hour', oneHour)] : []),
    reminder(clock, 'overdue', dueAt),
  ]
}

export const unsentIncidentReminders = (
  given: readonly string[],
  ...clocks: Parameters<typeof reportingClocks>
): ReportReminder[] =>
  reportingClocks(...clocks)
    .flatMap(remindersOf)
    .filter(({ name }) => !given.includes(name))
    .sort((one, other) => one.at.getTime() - other.at.getTime())

export const remainingReportReminders = (
  incident: SecurityIncident,
  { ports }: ReadContext,
): readonly ReportReminder[] =>
  incident.status === 'closed'
    ? []
    : unsentIncidentReminders(incident.reminded, incident.clockInput(), ports.weekendRelief)

export function scheduleNextReminder(incident: SecurityIncident, context: WriteContext): void {
  incident.dueAt = remainingReportReminders(incident, context)[0]?.at ?? null
  context.wake(incidentProcess, { id: incident.id, agentId: null, about: incident.severity })
}
