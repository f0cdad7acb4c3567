import { type DisputeProcessStatus, disputeProcess } from '../src/commerce/disputes/process.ts'
import { type FollowedRecord, followRecord } from './shared/follow-record.ts'

/**
 * A dispute is opened at the processor, waits for evidence until the deadline, and is submitted; then the
 * network is asked for its decision. It is followed again if the processor must learn that it has ended.
 */
export const dispute = followRecord(
  disputeProcess,
  async (record: FollowedRecord<DisputeProcessStatus>, steps) => {
    await record.during({ next: 'deadline' }, steps.followDisputeDeadlines)
    await record.during(({ next }) => next !== null && next !== 'deadline', steps.callAboutDispute)
  },
)
