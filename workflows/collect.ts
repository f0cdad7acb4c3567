import type { CollectActivities } from '../activities/collect.ts'
import { collectProcess } from '../src/commerce/payment-requests/process.ts'
import type { ProcessInput } from '../src/kernel/contract/process.ts'
import { activities, call, decision, reading } from './shared/activities.ts'
import { follow } from './shared/record-run.ts'

const { readPaymentRequest, answerPaymentRequest, expirePaymentRequest, followRefunds } =
  activities<CollectActivities>({
    readPaymentRequest: reading('Status of the payment request'),
    answerPaymentRequest: decision('Carry out the decision of an operator'),
    expirePaymentRequest: decision('Expire the request, which was not paid in time'),
    followRefunds: call('Ask the acquirer for the refunds that have not arrived', {
      startToCloseTimeout: '1 minute',
    }),
  })

/** A request is paid in time, is cancelled, or expires. A refund begins a run anew, which lasts until the payer has the money. */
export async function collect(ref: ProcessInput): Promise<string> {
  const record = await follow(ref, {
    process: collectProcess,
    read: readPaymentRequest,
    decide: answerPaymentRequest,
    signals: { cancel: 'Cancels the request while no payment on it is under way.' },
  })
  while (!record.isOver) {
    const { status, isBeingPaid, deadline } = record.state
    if (isBeingPaid) await record.waitFor('the outcome of the payment that is under way')
    else if (status === 'open')
      await record.waitFor(`the payment, until ${deadline}`, { whenDue: expirePaymentRequest })
    else {
      const nextCheck = deadline ? `; the next check is at ${deadline}` : ''
      await record.waitFor(`the refund to arrive${nextCheck}`, { whenDue: followRefunds })
    }
  }
  return record.state.status
}
