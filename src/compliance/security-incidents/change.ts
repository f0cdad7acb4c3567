import type { Context, ReadContext } from '../../kernel/contract/context.ts'
import type { HandlerOf } from '../../kernel/contract/operation.ts'
import type { Refusal } from '../../kernel/contract/problem.ts'
import { workflowIdOf } from '../../kernel/contract/process.ts'
import { definedOnly, FOR_UPDATE } from '../../kernel/database/entity.ts'
import { newId } from '../../values/ids.ts'
import type { securityIncidentsApi } from './api.ts'
import { incidentEvent, incidentResponse } from './events.ts'
import { livePlatformTenant, SecurityIncident } from './incident.ts'
import { incidentProcess } from './process.ts'
import { scheduleNextReminder } from './reminders.ts'
import { isEntityField, type ReportFieldEntries } from './report/fields.ts'

export async function lockOpenIncident(
  id: string,
  context: Context<'incident_not_found' | 'incident_closed'>,
): Promise<SecurityIncident | Refusal> {
  context.switchTenant(livePlatformTenant)
  const incident = await context.em.findOne(SecurityIncident, { id }, FOR_UPDATE)
  if (!incident) return context.refuse('incident_not_found')
  return incident.status === 'closed' ? context.refuse('incident_closed') : incident
}

type Times = Pick<
  SecurityIncident,
  'detectedAt' | 'awareAt' | 'occurredAt' | 'recoveredAt' | 'resolvedAt' | 'personalDataAwareAt'
>

const NOT_KNOWN = { occurredAt: null, recoveredAt: null, resolvedAt: null, personalDataAwareAt: null }

function timeProblem(
  incident: Times,
  { now, refuse }: Context<'time_to_come' | 'invalid_date_order'>,
): Refusal | undefined {
  const { detectedAt, awareAt, occurredAt, recoveredAt, resolvedAt, personalDataAwareAt } = incident
  const named = { detectedAt, awareAt, occurredAt, recoveredAt, resolvedAt, personalDataAwareAt }
  for (const [name, at] of Object.entries(named))
    if (at && at > now) return refuse('time_to_come', `${name} must not be in the future.`)
  if (awareAt < detectedAt) return refuse('invalid_date_order', 'awareAt must not be before detectedAt.')
  if (occurredAt && occurredAt > detectedAt)
    return refuse('invalid_date_order', 'occurredAt must not be after detectedAt.')
  const began = occurredAt ?? null
  if (recoveredAt && began && recoveredAt < began)
    return refuse('invalid_date_order', 'recoveredAt must not be before the incident began.')
  if (resolvedAt && began && resolvedAt < began)
    return refuse('invalid_date_order', 'resolvedAt must not be before the incident began.')
  return undefined
}

async function aboutEntity({ em }: ReadContext): Promise<Record<string, string>> {
  const [latest] = await em.find(SecurityIncident, {}, { orderBy: { id: 'desc' }, limit: 1 })
  return Object.fromEntries(Object.entries(latest?.fields ?? {}).filter(([number]) => isEntityField(number)))
}

export const createIncident: HandlerOf<typeof securityIncidentsApi.create> = async ({ body }, context) => {
  const { em, switchTenant, emit } = context
  switchTenant(livePlatformTenant)
  const { awareAt = body.detectedAt, ...given } = body
  const facts = { ...given, awareAt }
  const problem = timeProblem({ ...NOT_KNOWN, ...definedOnly(facts) } as Times, context)
  if (problem) return problem
  const id = newId('incident')
  const workflowId = workflowIdOf(incidentProcess, id)
  const incident = em.create(SecurityIncident, {
    ...definedOnly(facts),
    ...{ id, workflowId, fields: await aboutEntity(context) },
  } as never)
  scheduleNextReminder(incident, context)
  emit('incident.opened', incidentEvent(incident))
  return incidentResponse(incident, context)
}

function withEntries(entries: ReportFieldEntries, changes: ReportFieldEntries): Record<string, string> {
  const all = Object.entries({ ...entries, ...changes })
  return Object.fromEntries(all.filter((entry): entry is [string, string] => typeof entry[1] === 'string'))
}

export const updateIncident: HandlerOf<typeof securityIncidentsApi.update> = async (
  { params, body },
  context,
) => {
  const incident = await lockOpenIncident(params.id, context)
  if (!(incident instanceof SecurityIncident)) return incident
  const { fields, ...facts } = body
  const changed = definedOnly(facts)
  const problem = timeProblem({ ...timesOf(incident), ...changed }, context)
  if (problem) return problem
  Object.assign(incident, changed)
  if (fields) incident.fields = withEntries(incident.fields, fields)
  scheduleNextReminder(incident, context)
  context.emit('incident.updated', incidentEvent(incident))
  return incidentResponse(incident, context)
}

const timesOf = (incident: SecurityIncident) => ({
  detectedAt: incident.detectedAt,
  awareAt: incident.awareAt,
  occurredAt: incident.occurredAt,
  recoveredAt: incident.recoveredAt,
  resolvedAt: incident.resolvedAt,
  personalDataAwareAt: incident.personalDataAwareAt,
})
