import { webhookProcess } from '../src/delivery/webhooks/process.ts'
import type { ProcessStatus } from '../src/kernel/contract/process.ts'
import { type FollowedRecord, followRecord } from './shared/follow-record.ts'

export const webhook = followRecord(webhookProcess, async (record: FollowedRecord<ProcessStatus>, steps) => {
  await record.through(steps.retryDelivery)
})
