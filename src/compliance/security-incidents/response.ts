import type { Context } from '../../kernel/contract/context.ts'
import { withMembers } from '../../kernel/database/entity.ts'
import { clocksOf } from './clocks.ts'
import { assess } from './criteria.ts'
import type { SecurityIncident } from './incident.ts'

/** An incident as the API shows it: with its clocks, and with what the thresholds say. */
export function incidentResponse(incident: SecurityIncident, { ports, now }: Pick<Context, 'ports' | 'now'>) {
  const clocks = clocksOf(incident.course(), ports.weekendRelief)
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
