import { z } from 'zod'
import { get, post } from '../../kernel/contract/operation.ts'
import { ProcessStatusRecord } from '../../values/schemas.ts'
import { incidentEvents } from './events.ts'
import { incidentFails } from './schemas.ts'

const { incident_not_found } = incidentFails

/** The steps of the process. Each may be repeated: a reminder is given once. */
export const stepsApi = {
  processStatus: get('/security/incidents/{id}/status', {
    readsClock: true,
    summary: 'How a security incident stands',
    callers: [],
    returns: [200, ProcessStatusRecord],
    fails: { incident_not_found },
  }),
  remind: post('/security/incidents/{id}/remind', {
    summary: 'Remind of what is owed to an authority',
    callers: [],
    returns: [200, z.object({ acted: z.boolean() })],
    fails: { incident_not_found },
    emits: {
      'incident.report_due': incidentEvents['incident.report_due'],
      'incident.report_overdue': incidentEvents['incident.report_overdue'],
    },
  }),
}
