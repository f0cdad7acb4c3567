import type { IncidentActivities } from '../activities/incidents.ts'
import type { ProcessInput } from '../src/kernel/contract/process.ts'
import { followRecord } from './shared/follow-record.ts'
import { stepsOf } from './shared/steps.ts'

const { readIncident, remindOfReports } = stepsOf<IncidentActivities>()({
  readIncident: { summary: 'How the incident stands, and what is owed to whom' },
  remindOfReports: {
    summary: 'At half time, an hour before, or as the time is over: who answers for it is reminded',
  },
})

/**
 * Somebody decides whether the incident is major. Then the authority is owed an initial notification, an intermediate
 * report and a final one, each by a clock that the one before it has started. In the end somebody closes the incident.
 */
export const incident = (input: ProcessInput): Promise<string> =>
  followRecord(input, {
    read: readIncident,
    async story(record) {
      const remind = () => remindOfReports(input)
      await record.during(({ status }) => status === 'detected', remind)
      await record.during(({ status }) => status === 'classified', remind)
      await record.during(({ status }) => status === 'initial_submitted', remind)
      await record.during(({ status }) => status === 'intermediate_submitted', remind)
      await record.during(({ status }) => status === 'final_submitted', remind)
    },
  })
