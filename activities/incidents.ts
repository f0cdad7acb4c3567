import type { ProcessInput, ProcessStatus } from '../src/kernel/contract/process.ts'
import { type Run, readWith } from './support.ts'

/** Each of them can be made again: a reminder is given once. */
export const incidentActivities = (run: Run) => ({
  readIncident: (input: ProcessInput): Promise<ProcessStatus> =>
    readWith(run, 'securityIncidents.processStatus', input, requestOf(input)),

  async remindOfReports(input: ProcessInput): Promise<void> {
    await run('securityIncidents.remind', { of: input, as: 'process', requestId: requestOf(input) })
  },
})

export type IncidentActivities = ReturnType<typeof incidentActivities>

const requestOf = ({ id }: ProcessInput): string => `workflow:incident/${id}`
