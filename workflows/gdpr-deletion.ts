import { deletionProcess } from '../src/compliance/gdpr/process.ts'
import type { ProcessStatus } from '../src/kernel/contract/process.ts'
import { type Followed, followRecord } from './shared/follow-record.ts'

export const gdprDeletion = followRecord(deletionProcess, async (record: Followed<ProcessStatus>, steps) => {
  await record.during({ status: 'requested' }, steps.advanceDeletion)
  await record.during({ status: 'waiting' }, steps.advanceDeletion)
  await record.during({ status: 'ending' }, steps.advanceDeletion)
  await record.during({ status: 'forgetting' }, steps.advanceDeletion)
})
