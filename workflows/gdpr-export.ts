import { dataExportProcess } from '../src/compliance/gdpr/process.ts'
import type { ProcessStatus } from '../src/kernel/contract/process.ts'
import { type FollowedRecord, followRecord } from './shared/follow-record.ts'

export const gdprExport = followRecord(
  dataExportProcess,
  async (record: FollowedRecord<ProcessStatus>, steps) => {
    await record.during({ status: 'requested' }, steps.advanceExport)
    await record.during({ status: 'ready' }, steps.advanceExport)
  },
)
