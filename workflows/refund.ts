import type { RefundActivities } from '../activities/refunds.ts'
import { refundProcess } from '../src/commerce/refunds/process.ts'
import type { ProcessInput } from '../src/kernel/contract/process.ts'
import { activities, call, decision, reading } from './shared/activities.ts'
import { follow } from './shared/record-run.ts'

const { readRefund, answerRefund, askMerchantForRefund, giveUpRefund } = activities<RefundActivities>({
  readRefund: reading('Status of the refund'),
  answerRefund: decision('Carry out the decision of an operator'),
  askMerchantForRefund: call('Have the card processor request the refund from the merchant, once', {
    startToCloseTimeout: '1 minute',
  }),
  giveUpRefund: decision('Expire the refund, which did not arrive in time'),
})

/** The merchant is asked by the card’s processor; then the money arrives in time, the refund is cancelled, or it expires. */
export async function refund(ref: ProcessInput): Promise<string> {
  const record = await follow(ref, {
    process: refundProcess,
    read: readRefund,
    decide: answerRefund,
    signals: { cancel: 'Cancels the refund.' },
  })
  while (!record.isOver) {
    const { mustBeAsked, deadline } = record.state
    if (mustBeAsked)
      await record.waitFor(
        `the processor of the card to ask the merchant, then for the money, until ${deadline}`,
        { whenDue: askMerchantForRefund },
      )
    else await record.waitFor(`the money of the merchant, until ${deadline}`, { whenDue: giveUpRefund })
  }
  return record.state.status
}
