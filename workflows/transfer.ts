import { type TransferProcessStatus, transferProcess } from '../src/commerce/transfers/process.ts'
import { type FollowedRecord, followRecord } from './shared/follow-record.ts'

/**
 * The payee’s bank verifies the name, a person confirms a doubtful result, the payment is submitted once, and
 * the rail is asked until it has ended. A transfer that is cancelled, rejected or returned releases its
 * money.
 */
export const transfer = followRecord(
  transferProcess,
  async (record: FollowedRecord<TransferProcessStatus>, steps) => {
    await record.during({ next: 'verify' }, steps.verifyPayee)
    await record.during({ next: 'lapse' }, steps.cancelUnconfirmed)
    await record.during({ next: 'submit' }, steps.submitPayment)
    await record.during({ next: 'inquire' }, steps.askRail)
  },
  { recurs: true },
)
