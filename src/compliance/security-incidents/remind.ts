import type { Context } from '../../kernel/contract/context.ts'
import type { HandlerOf } from '../../kernel/contract/operation.ts'
import type { Clock } from './clocks.ts'
import { incidentEvent } from './events.ts'
import { platform, SecurityIncident } from './incident.ts'
import type { Reminder } from './reminders.ts'
import { remindersLeft, schedule } from './schedule.ts'
import type { stepsApi } from './steps-api.ts'

/** What the reader can do about it, where the time cannot be kept. */
function adviceOn({ stage }: Clock, isOver: boolean): string {
  if (stage === 'classification')
    return isOver
      ? 'Decide whether it is major: the initial notification is then due within four hours of that.'
      : 'Decide whether it is major, by the criteria of Delegated Regulation (EU) 2024/1772.'
  if (stage === 'data_protection')
    return 'What comes after the 72 hours is accompanied by the reasons for the delay.'
  if (stage === 'update') return 'Submit an updated intermediate report without undue delay.'
  return isOver
    ? 'Submit it, and tell the authority the reasons for the delay.'
    : 'Who cannot keep the time tells the authority so before it is over, with the reasons (Article 5(3)).'
}

/** Where several reminders of a clock are due at once, the last one says it all. */
const lastOfEach = (due: readonly Reminder[]): Reminder[] => [
  ...new Map(due.map(reminder => [reminder.clock.stage, reminder])).values(),
]

export const remind: HandlerOf<typeof stepsApi.remind> = async ({ params }, context) => {
  const { records, now, refuse } = context
  context.actFor(platform)
  const incident = await records.lock(SecurityIncident, params.id)
  if (!incident) return refuse('incident_not_found')
  const due = remindersLeft(incident, context).filter(({ at }) => at <= now)
  if (due.length === 0) return { acted: false }
  for (const reminder of lastOfEach(due)) tell(incident, reminder, context)
  incident.reminded = [...incident.reminded, ...due.map(({ name }) => name)]
  schedule(incident, context)
  return { acted: true }
}

type Telling = Pick<Context<never, (typeof stepsApi.remind)['emits']>, 'emit'>

function tell(incident: SecurityIncident, { clock, kind }: Reminder, { emit }: Telling): void {
  const { stage, dueAt, article } = clock
  const isOver = kind === 'overdue'
  const data = { ...incidentEvent(incident), stage, dueAt, article, reminder: kind }
  const advice = adviceOn(clock, isOver)
  emit(isOver ? 'incident.report_overdue' : 'incident.report_due', { ...data, advice })
}
