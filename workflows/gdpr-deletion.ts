import { dataDeletionProcess } from '../src/compliance/gdpr/process.ts'
import type { ProcessStatus } from '../src/kernel/contract/process.ts'
import { type FollowedRecord, followRecord } from './shared/follow-record.ts'

export const gdprDeletion = followRecord(
  dataDeletionProcess,
  async (record: FollowedRecord<ProcessStatus>, steps) => {
    await record.during({ status: 'requested' }, steps.advanceDeletion)
    await record.during({ status: 'waiting' }, steps.advanceDeletion)
    await record.during({ status: 'ending' }, steps.advanceDeletion)
    await record.during({ status: 'forgetting' }, steps.advanceDeletion)
  },
)
