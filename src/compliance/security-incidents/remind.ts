import type { EmitContext, ReadContext, WriteContext } from '../../kernel/contract/context.ts'
import { FOR_UPDATE } from '../../kernel/database/entity.ts'
import { formatMinute } from '../../values/minute.ts'
import type { incidentSteps } from './api.ts'
import { type ReportingClock, reportingClocks } from './clocks.ts'
import { incidentEvent } from './events.ts'
import { SecurityIncident } from './incident.ts'
import { type ReportReminder, remainingReportReminders, scheduleNextReminder } from './reminders.ts'

const kindOf = ({ isMajor }: SecurityIncident): string =>
  isMajor === null ? 'not classified' : isMajor ? 'major' : 'not major'

const byDeadline = (one: ReportingClock, other: ReportingClock): number =>
  one.dueAt.getTime() - other.dueAt.getTime()

/** What the run of an incident reads: the earliest report that is owed. Temporal does not get to know what happened. */
export async function incidentStatus(id: string, { em, now, settings }: ReadContext) {
  const incident = await em.findOne(SecurityIncident, { id })
  if (!incident) return undefined
  const { status, severity, dueAt } = incident
  const closed = status === 'closed'
  const clocks = reportingClocks(incident.clockInput(), settings.weekendRelief)
  const [next] = clocks.filter(({ doneAt }) => doneAt === null).toSorted(byDeadline)
  return {
    status,
    summary: `Security incident of severity ${severity}, ${kindOf(incident)}: ${status}`,
    closed,
    dueInMs: closed || !dueAt ? null : dueAt.getTime() - now.getTime(),
    owed: next && { stage: next.stage, article: next.article },
    deadline: next ? formatMinute(next.dueAt) : null,
    signals: [],
  }
}

function adviceOn({ stage }: ReportingClock, isOver: boolean): string {
  if (stage === 'classification')
    return isOver
      ? 'Decide whether the incident is major: the initial notification is then due within four hours.'
      : 'Decide whether the incident is major, by the criteria of Delegated Regulation (EU) 2024/1772.'
  if (stage === 'data_protection')
    return 'A notification after the 72 hours must state the reasons for the delay.'
  if (stage === 'update') return 'Submit an updated intermediate report without undue delay.'
  return isOver
    ? 'Submit the report, and give the authority the reasons for the delay.'
    : 'If the deadline cannot be met, tell the authority beforehand, with the reasons (Article 5(3)).'
}

/** If several reminders of a clock are due at once, only the last one is sent. */
const lastOfEach = (due: readonly ReportReminder[]): ReportReminder[] => [
  ...new Map(due.map(reminder => [reminder.clock.stage, reminder])).values(),
]

export async function sendDueReminder(
  id: string,
  context: WriteContext<(typeof incidentSteps.remind)['emits']>,
): Promise<void> {
  const { em, now } = context
  const incident = await em.findOne(SecurityIncident, { id }, FOR_UPDATE)
  if (!incident) return
  const due = remainingReportReminders(incident, context).filter(({ at }) => at <= now)
  if (due.length === 0) return
  for (const reminder of lastOfEach(due)) tell(incident, reminder, context)
  incident.reminded = [...incident.reminded, ...due.map(({ name }) => name)]
  scheduleNextReminder(incident, context)
}

function tell(
  incident: SecurityIncident,
  { clock, kind }: ReportReminder,
  { emit }: EmitContext<(typeof incidentSteps.remind)['emits']>,
): void {
  const { stage, dueAt, article } = clock
  const isOver = kind === 'overdue'
  const data = { ...incidentEvent(incident), stage, dueAt, article, reminder: kind }
  const advice = adviceOn(clock, isOver)
  emit(isOver ? 'incident.report_overdue' : 'incident.report_due', { ...data, advice })
}
