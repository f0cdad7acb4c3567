import type { IncidentActivities } from '../activities/incidents.ts'
import { incidentProcess } from '../src/compliance/security-incidents/process.ts'
import type { ProcessInput } from '../src/kernel/contract/process.ts'
import { activities, decision, reading } from './shared/activities.ts'
import { follow } from './shared/record-run.ts'

const { readIncident, remindOfReports } = activities<IncidentActivities>({
  readIncident: reading('Status of the incident and of its reports'),
  remindOfReports: decision('Remind those responsible: at half time, an hour before, or at the deadline'),
})

const OWED = {
  classification: 'a decision whether it is major',
  initial: 'the initial notification',
  intermediate: 'the intermediate report',
  update: 'the intermediate report to be updated after the recovery',
  final: 'the final report',
  data_protection: 'the notification of the data protection authority',
}

/**
 * An operator decides whether the incident is major. Then the authority must receive an initial notification,
 * an intermediate report and a final one, each by a deadline that the one before it starts. In the end an
 * operator closes the incident.
 */
export async function incident(ref: ProcessInput): Promise<string> {
  const record = await follow(ref, { process: incidentProcess, read: readIncident })
  while (!record.isOver) {
    const { owed, deadline } = record.state
    const what = owed
      ? `${OWED[owed.stage]}, due ${deadline} (${owed.article})`
      : 'an operator to close it: no report is outstanding'
    await record.waitFor(what, { whenDue: remindOfReports })
  }
  return record.state.status
}
