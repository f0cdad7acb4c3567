import { intentProcess } from '../src/control/intents/process.ts'
import type { ProcessStatus } from '../src/kernel/contract/process.ts'
import { type Followed, followRecord } from './shared/follow-record.ts'

export const intent = followRecord(intentProcess, async (record: Followed<ProcessStatus>, steps) => {
  await record.during({ status: 'created' }, steps.expireIntent)
  await record.during({ status: 'approved' }, steps.expireIntent)
})
