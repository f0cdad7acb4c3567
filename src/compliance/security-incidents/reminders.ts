import type { Context } from '../../kernel/contract/context.ts'
import { after, minutes } from '../../values/clock.ts'
import { type Clock, clocksOf } from './clocks.ts'
import type { SecurityIncident } from './incident.ts'
import { incidentProcess } from './process.ts'

export const reminderKinds = ['half_time', 'one_hour', 'at_once', 'overdue'] as const
type ReminderKind = (typeof reminderKinds)[number]

export interface Reminder {
  readonly clock: Clock
  readonly kind: ReminderKind
  readonly at: Date
  /** A stable name per deadline: a deadline that moves has reminders of its own. */
  readonly name: string
}

const reminder = (clock: Clock, kind: ReminderKind, at: Date): Reminder => ({
  clock,
  kind,
  at,
  name: `${clock.stage}/${clock.dueAt.toISOString()}/${kind}`,
})

/** At half time, an hour before, and at the deadline. An immediate deadline has one reminder. */
function remindersOf(clock: Clock): Reminder[] {
  const { beginsAt, dueAt, doneAt } = clock
  if (doneAt) return []
  if (dueAt <= beginsAt) return [reminder(clock, 'at_once', dueAt)]
  const half = after(beginsAt, (dueAt.getTime() - beginsAt.getTime()) / 2)
  const oneHour = after(dueAt, -minutes(60))
  return [
    reminder(clock, 'half_time', half),
    ...(oneHour > half ? [reminder(clock, 'one_hour', oneHour)] : []),
    reminder(clock, 'overdue', dueAt),
  ]
}

export const openReminders = (given: readonly string[], ...clocks: Parameters<typeof clocksOf>): Reminder[] =>
  clocksOf(...clocks)
    .flatMap(remindersOf)
    .filter(({ name }) => !given.includes(name))
    .sort((one, other) => one.at.getTime() - other.at.getTime())

type Scheduling = Pick<Context, 'ports' | 'wake'>

export const remindersLeft = (
  incident: SecurityIncident,
  { ports }: Pick<Context, 'ports'>,
): readonly Reminder[] =>
  incident.status === 'closed'
    ? []
    : openReminders(incident.reminded, incident.clockInput(), ports.weekendRelief)

export function schedule(incident: SecurityIncident, context: Scheduling): void {
  incident.dueAt = remindersLeft(incident, context)[0]?.at ?? null
  context.wake(incidentProcess, { id: incident.id, agentId: null, about: incident.severity })
}
