import { type MachinePaymentProcessStatus, mppProcess } from '../src/commerce/mpp/process.ts'
import { type FollowedRecord, followRecord } from './shared/follow-record.ts'

/**
 * The request itself calls the merchant, checks the offer, mints and sends; its steps are lines of the
 * timeline. If the merchant does not answer, the outcome is unknown until it is resolved, or until the
 * deadline.
 */
export const mpp = followRecord(
  mppProcess,
  async (record: FollowedRecord<MachinePaymentProcessStatus>, steps) => {
    await record.during({ status: 'sent' }, steps.leaveOutcomeOpen)
    await record.during({ next: 'settle' }, steps.endUnpaid)
    await record.during({ next: 'deleteToken' }, steps.deleteNetworkToken)
  },
)
