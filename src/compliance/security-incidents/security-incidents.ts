import { area } from '../../kernel/contract/area.ts'
import type { Deadline } from '../../kernel/contract/deadline.ts'
import { implement } from '../../kernel/contract/operation.ts'
import { createdWithin } from '../../kernel/database/created-within.ts'
import { definedOnly } from '../../kernel/database/entity.ts'
import { securityIncidentsApi, stepsApi } from './api.ts'
import { create, update } from './change.ts'
import { classify, close } from './classify.ts'
import { incidentResponse } from './events.ts'
import { incidentMachine, OPEN, platform, SecurityIncident, securityIncidentsPersonal } from './incident.ts'
import { incidentProcess } from './process.ts'
import { processStatus, remind } from './remind.ts'
import { report } from './report/report.ts'
import { submit } from './submit.ts'

const securityIncidents = implement(
  { ...securityIncidentsApi, ...stepsApi },
  {
    create,
    update,
    classify,
    submit,
    report,
    close,
    processStatus,
    remind,

    async list({ query: { status, severity, from, to } }, context) {
      context.switchTenant(platform)
      const created = await createdWithin('incident', { from, to }, context)
      const page = await context.page(SecurityIncident, definedOnly({ status, severity, ...created }))
      return { ...page, data: page.data.map(incident => incidentResponse(incident, context)) }
    },

    async get({ params }, context) {
      context.switchTenant(platform)
      const incident = await context.records.findOne(SecurityIncident, { id: params.id })
      return incident ? incidentResponse(incident, context) : context.refuse('incident_not_found')
    },
  },
)

const deadline: Deadline = {
  process: incidentProcess,
  table: 'security_incidents',
  open: OPEN,
  waits: 'true',
  operations: ['securityIncidents.remind'],
}

export const securityIncidentsArea = area(
  'Security Incidents',
  'Incidents of the service: classification, reports to authorities, and their deadlines.',
  securityIncidents,
  {
    entities: [SecurityIncident],
    personal: securityIncidentsPersonal,
    machines: [incidentMachine],
    deadlines: [deadline],
    openRecords: [
      {
        process: incidentProcess,
        select: `select id, owner_id, mode, null::text as agent_id, severity as about from security_incidents where ${OPEN}`,
      },
    ],
  },
)
