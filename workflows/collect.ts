import { collectProcess } from '../src/commerce/collect/process.ts'
import type { ProcessStatus } from '../src/kernel/contract/process.ts'
import { type FollowedRecord, followRecord } from './shared/follow-record.ts'

/** A request is paid in time, is cancelled, or expires. It is followed again while a refund is pending. */
export const collect = followRecord(collectProcess, async (record: FollowedRecord<ProcessStatus>, steps) => {
  await record.during({ status: 'open' }, steps.expirePaymentRequest)
  await record.during(({ status, closed }) => status !== 'open' && !closed, steps.followRefunds)
})
