import { area } from '../../kernel/contract/area.ts'
import type { Deadline } from '../../kernel/contract/deadline.ts'
import { bindHandlers } from '../../kernel/contract/operation.ts'
import { createdWithinCondition } from '../../kernel/database/created-within.ts'
import { definedOnly } from '../../kernel/database/entity.ts'
import { incidentSteps, securityIncidentsApi } from './api.ts'
import { createIncident, updateIncident } from './change.ts'
import { classifyIncident, closeIncident } from './classify.ts'
import { incidentResponse } from './events.ts'
import {
  livePlatformTenant,
  OPEN_INCIDENT_SQL,
  SecurityIncident,
  securityIncidentMachine,
} from './incident.ts'
import { incidentProcess } from './process.ts'
import { readIncidentReport } from './report/report.ts'
import { recordSubmittedReport } from './submit.ts'

const securityIncidents = bindHandlers(securityIncidentsApi, {
  create: createIncident,
  update: updateIncident,
  classify: classifyIncident,
  submit: recordSubmittedReport,
  report: readIncidentReport,
  close: closeIncident,

  async list({ query: { status, severity, from, to } }, context) {
    context.switchTenant(livePlatformTenant)
    const created = await createdWithinCondition('incident', { from, to }, context)
    const page = await context.page(SecurityIncident, definedOnly({ status, severity, ...created }))
    return { ...page, data: page.data.map(incident => incidentResponse(incident, context)) }
  },

  async get({ params }, context) {
    context.switchTenant(livePlatformTenant)
    const incident = await context.em.findOne(SecurityIncident, { id: params.id })
    return incident ? incidentResponse(incident, context) : context.refuse('incident_not_found')
  },
})

const deadline: Deadline = {
  process: incidentProcess,
  table: 'security_incidents',
  open: OPEN_INCIDENT_SQL,
  waits: 'true',
  activities: ['remindOfReports'],
}

export const securityIncidentsArea = area(
  'Security Incidents',
  'Incidents of the service: classification, reports to authorities, and their deadlines.',
  securityIncidents,
  {
    steps: incidentSteps,
    entities: [SecurityIncident],
    machines: [securityIncidentMachine],
    deadlines: [deadline],
    openRecords: [
      {
        process: incidentProcess,
        select: `select id, owner_id, mode, null::text as agent_id, severity as about from security_incidents where ${OPEN_INCIDENT_SQL}`,
      },
    ],
  },
)
