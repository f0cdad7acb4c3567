import { type RefundStatus, refundProcess } from '../src/commerce/refunds/process.ts'
import { type Followed, followRecord } from './shared/follow-record.ts'

/** The merchant is asked; then the money arrives in time, the refund is cancelled, or it expires. */
export const refund = followRecord(refundProcess, async (record: Followed<RefundStatus>, steps) => {
  await record.during({ next: 'ask' }, steps.askMerchantForRefund)
  await record.during(({ status, next }) => status === 'pending' && next !== 'ask', steps.giveUpRefund)
})
