import type { EmitContext } from '../../kernel/contract/context.ts'
import type { HandlerOf } from '../../kernel/contract/operation.ts'
import { formatMinute } from '../../values/clock.ts'
import type { incidentStepsApi } from './api.ts'
import { type ReportingClock, type ReportingClockStage, reportingClocks } from './clocks.ts'
import { incidentEvent } from './events.ts'
import { livePlatformTenant, SecurityIncident } from './incident.ts'
import { type ReportReminder, remainingReportReminders, scheduleNextReminder } from './reminders.ts'

const waitsInWords: Readonly<Record<ReportingClockStage, string>> = {
  classification: 'for a decision whether it is major',
  initial: 'for the initial notification',
  intermediate: 'for the intermediate report',
  update: 'for the intermediate report to be updated after the recovery',
  final: 'for the final report',
  data_protection: 'for the notification of the data protection authority',
}

/** Completes the sentence "The process waits …" for operators, with the earliest deadline. */
function waitsFor(open: readonly ReportingClock[]): string {
  const [first] = [...open].sort((one, other) => one.dueAt.getTime() - other.dueAt.getTime())
  if (!first) return 'for an operator to close it: no report is outstanding'
  return `${waitsInWords[first.stage]}, due ${formatMinute(first.dueAt)} (${first.article})`
}

const kindOf = ({ isMajor }: SecurityIncident): string =>
  isMajor === null ? 'not classified' : isMajor ? 'major' : 'not major'

/** The status of an incident for its run. Temporal does not get to know what happened. */
export const incidentProcessStatus: HandlerOf<typeof incidentStepsApi.processStatus> = async (
  { params },
  context,
) => {
  const { records, now, ports, refuse } = context
  context.switchTenant(livePlatformTenant)
  const incident = await records.findOne(SecurityIncident, { id: params.id })
  if (!incident) return refuse('incident_not_found')
  const { status, severity, dueAt } = incident
  const closed = status === 'closed'
  const open = reportingClocks(incident.clockInput(), ports.weekendRelief).filter(
    ({ doneAt }) => doneAt === null,
  )
  return {
    status,
    summary: `Security incident of severity ${severity}, ${kindOf(incident)}: ${status}`,
    closed,
    dueInMs: closed || !dueAt ? null : dueAt.getTime() - now.getTime(),
    waitsFor: closed ? null : waitsFor(open),
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

export const sendDueReminder: HandlerOf<typeof incidentStepsApi.remind> = async ({ params }, context) => {
  const { records, now, refuse } = context
  context.switchTenant(livePlatformTenant)
  const incident = await records.lock(SecurityIncident, params.id)
  if (!incident) return refuse('incident_not_found')
  const due = remainingReportReminders(incident, context).filter(({ at }) => at <= now)
  if (due.length === 0) return { acted: false }
  for (const reminder of lastOfEach(due)) tell(incident, reminder, context)
  incident.reminded = [...incident.reminded, ...due.map(({ name }) => name)]
  scheduleNextReminder(incident, context)
  return { acted: true }
}

function tell(
  incident: SecurityIncident,
  { clock, kind }: ReportReminder,
  { emit }: EmitContext<(typeof incidentStepsApi.remind)['emits']>,
): void {
  const { stage, dueAt, article } = clock
  const isOver = kind === 'overdue'
  const data = { ...incidentEvent(incident), stage, dueAt, article, reminder: kind }
  const advice = adviceOn(clock, isOver)
  emit(isOver ? 'incident.report_overdue' : 'incident.report_due', { ...data, advice })
}
