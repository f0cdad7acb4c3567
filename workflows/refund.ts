import { type RefundProcessStatus, refundProcess } from '../src/commerce/refunds/process.ts'
import { type FollowedRecord, followRecord } from './shared/follow-record.ts'

/** The merchant is asked; then the money arrives in time, the refund is cancelled, or it expires. */
export const refund = followRecord(
  refundProcess,
  async (record: FollowedRecord<RefundProcessStatus>, steps) => {
    await record.during({ next: 'ask' }, steps.askMerchantForRefund)
    await record.during(({ status, next }) => status === 'pending' && next !== 'ask', steps.giveUpRefund)
  },
)
