import { incidentProcess } from '../src/compliance/security-incidents/process.ts'
import type { ProcessStatus } from '../src/kernel/contract/process.ts'
import { type FollowedRecord, followRecord } from './shared/follow-record.ts'

/**
 * An operator decides whether the incident is major. Then the authority must receive an initial notification,
 * an intermediate report and a final one, each by a deadline that the one before it starts. In the end an
 * operator closes the incident.
 */
export const incident = followRecord(
  incidentProcess,
  async (record: FollowedRecord<ProcessStatus>, steps) => {
    await record.during({ status: 'detected' }, steps.remindOfReports)
    await record.during({ status: 'classified' }, steps.remindOfReports)
    await record.during({ status: 'initial_submitted' }, steps.remindOfReports)
    await record.during({ status: 'intermediate_submitted' }, steps.remindOfReports)
    await record.during({ status: 'final_submitted' }, steps.remindOfReports)
  },
)
