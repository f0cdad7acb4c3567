import { exportProcess } from '../src/compliance/gdpr/process.ts'
import type { ProcessStatus } from '../src/kernel/contract/process.ts'
import { type Followed, followRecord } from './shared/follow-record.ts'

export const gdprExport = followRecord(exportProcess, async (record: Followed<ProcessStatus>, steps) => {
  await record.during({ status: 'requested' }, steps.advanceExport)
  await record.during({ status: 'ready' }, steps.advanceExport)
})
