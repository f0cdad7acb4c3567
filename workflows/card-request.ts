import { cardRequestProcess } from '../src/cards/card-requests/process.ts'
import type { ProcessStatus } from '../src/kernel/contract/process.ts'
import { type FollowedRecord, followRecord } from './shared/follow-record.ts'

export const cardRequest = followRecord(
  cardRequestProcess,
  async (record: FollowedRecord<ProcessStatus>, steps) => {
    await record.during({ status: 'pending' }, steps.expireCardRequest)
    await record.during({ status: 'approved' }, steps.carryOutCardRequest)
  },
)
