import { isCancellation } from '@temporalio/workflow'
import type { MppActivities } from '../activities/mpp.ts'
import { mppProcess } from '../src/commerce/mpp/process.ts'
import { type NextStep, payMerchant } from '../src/commerce/mpp/story.ts'
import type { ProcessInput } from '../src/kernel/contract/process.ts'
import type { RecordRef } from '../src/kernel/contract/step.ts'
import { activities, call, decision, once, reading } from './shared/activities.ts'
import { follow } from './shared/record-run.ts'

const {
  readMachinePayment,
  mintCredential,
  createSharedToken,
  sendCredential,
  resolveMachinePayment,
  leaveOutcomeOpen,
  endUnpaid,
  deleteNetworkToken,
} = activities<Omit<MppActivities, 'interruptOrder'>>({
  readMachinePayment: reading('Status of the machine payment'),
  mintCredential: call(
    'Ask the merchant for its offer, check it and mint a credential; nothing is paid yet',
    {
      startToCloseTimeout: '45 seconds',
    },
  ),
  createSharedToken: call('Create the shared payment token at the processor'),
  sendCredential: once('Send the credential to the merchant, once, and record its answer', {
    startToCloseTimeout: '60 seconds',
  }),
  resolveMachinePayment: decision('Carry out the decision of an operator'),
  leaveOutcomeOpen: decision(
    'Record the outcome as unknown, since the merchant did not answer; the money stays held',
  ),
  endUnpaid: decision('End the payment as not paid: revoke the token and free the intent'),
  deleteNetworkToken: call('Delete the token at the processor'),
})

/** An attempt to send that fails may have sent it: the record says what is known. */
const steps = {
  mintCredential,
  createSharedToken,
  async sendCredential(payment: RecordRef) {
    return sendCredential(payment).catch((error: unknown) => {
      if (isCancellation(error)) throw error
      return 'wait' as const
    })
  },
}

async function paid(payment: RecordRef, from: NextStep) {
  await payMerchant(payment, from, steps)
  return readMachinePayment(payment)
}

/**
 * Pays the merchant, and follows the payment until its outcome is known. If the merchant does not answer, the outcome is open
 * until network, owner or operator report it, or until the deadline. The token of a payment that was not paid is deleted.
 */
export async function mpp(ref: ProcessInput): Promise<string> {
  const payment = await follow(ref, {
    process: mppProcess,
    read: readMachinePayment,
    decide: resolveMachinePayment,
    signals: {
      paid: 'Records the payment as paid: the money is captured.',
      notPaid: 'Records the payment as not paid: the token is revoked, and the intent can be paid again.',
    },
  })
  while (!payment.isOver) {
    const { status, next, awaitsPerson, deadline } = payment.state
    if (next === 'order' || next === 'token' || next === 'send') await payment.take(it => paid(it, next))
    else if (status === 'waiting')
      await payment.waitFor(
        awaitsPerson
          ? `a person to approve the intent, until ${deadline}`
          : `the merchant, which is away: it is asked again at ${deadline}`,
      )
    else if (status === 'ordering')
      await payment.waitFor(`the request that carries it out, until ${deadline}`)
    else if (status === 'sent')
      await payment.waitFor(`the merchant’s answer, until ${deadline}`, { whenDue: leaveOutcomeOpen })
    else if (status === 'void')
      await payment.waitFor('the processor to delete the token', { whenDue: deleteNetworkToken })
    else if (awaitsPerson)
      await payment.waitFor(`a person to confirm it with the card’s issuer, until ${deadline}`, {
        whenDue: endUnpaid,
      })
    else await payment.waitFor(`a report of whether it was paid, until ${deadline}`, { whenDue: endUnpaid })
  }
  return payment.state.status
}
