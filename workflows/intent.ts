import { intentProcess } from '../src/control/intents/process.ts'
import type { ProcessStatus } from '../src/kernel/contract/process.ts'
import { type FollowedRecord, followRecord } from './shared/follow-record.ts'

export const intent = followRecord(intentProcess, async (record: FollowedRecord<ProcessStatus>, steps) => {
  await record.during({ status: 'created' }, steps.expireIntent)
  await record.during({ status: 'approved' }, steps.expireIntent)
})
