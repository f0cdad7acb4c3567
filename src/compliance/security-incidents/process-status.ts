import type { HandlerOf } from '../../kernel/contract/operation.ts'
import { minuteInWords } from '../../values/clock.ts'
import { type Clock, type ClockStage, clocksOf } from './clocks.ts'
import { platform, SecurityIncident } from './incident.ts'
import type { stepsApi } from './steps-api.ts'

const waitsInWords: Readonly<Record<ClockStage, string>> = {
  classification: 'for somebody to decide whether it is major',
  initial: 'for the initial notification',
  intermediate: 'for the intermediate report',
  update: 'for the intermediate report to be updated after the recovery',
  final: 'for the final report',
  data_protection: 'for the notification of the data protection authority',
}

/** Completes the sentence "The process waits …" for operators: first what is due first. */
function waitsFor(open: readonly Clock[]): string {
  const [first] = [...open].sort((one, other) => one.dueAt.getTime() - other.dueAt.getTime())
  if (!first) return 'for somebody to close it: nothing is owed to an authority'
  return `${waitsInWords[first.stage]}, due ${minuteInWords(first.dueAt)} (${first.article})`
}

const kindOf = ({ isMajor }: SecurityIncident): string =>
  isMajor === null ? 'not classified' : isMajor ? 'major' : 'not major'

/** The status of an incident as its process reads it: what has happened is not told to Temporal. */
export const processStatus: HandlerOf<typeof stepsApi.processStatus> = async ({ params }, context) => {
  const { records, now, ports, refuse } = context
  context.actFor(platform)
  const incident = await records.findOne(SecurityIncident, { id: params.id })
  if (!incident) return refuse('incident_not_found')
  const { status, severity, dueAt } = incident
  const closed = status === 'closed'
  const open = clocksOf(incident.course(), ports.weekendRelief).filter(({ doneAt }) => doneAt === null)
  return {
    status,
    summary: `Security incident of severity ${severity}, ${kindOf(incident)}: ${status}`,
    closed,
    dueInMs: closed || !dueAt ? null : dueAt.getTime() - now.getTime(),
    waitsFor: closed ? null : waitsFor(open),
    signals: [],
  }
}
