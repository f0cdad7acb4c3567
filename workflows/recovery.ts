import { recoveryProcess } from '../src/identity/people/process.ts'
import type { ProcessStatus } from '../src/kernel/contract/process.ts'
import { type FollowedRecord, followRecord } from './shared/follow-record.ts'

/** Every person of the account can stop a recovery for 24 hours; then its link is opened in time, or it expires. */
export const recovery = followRecord(
  recoveryProcess,
  async (record: FollowedRecord<ProcessStatus>, steps) => {
    await record.during({ status: 'waiting' }, steps.advanceRecovery)
    await record.during({ status: 'ready' }, steps.advanceRecovery)
  },
)
