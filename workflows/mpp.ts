import type { MppActivities } from '../activities/mpp.ts'
import { mppProcess } from '../src/commerce/mpp/process.ts'
import type { ProcessInput } from '../src/kernel/contract/process.ts'
import { activities, call, decision, reading } from './shared/activities.ts'
import { follow } from './shared/record-run.ts'

const { readMachinePayment, resolveMachinePayment, leaveOutcomeOpen, endUnpaid, deleteNetworkToken } =
  activities<MppActivities>({
    readMachinePayment: reading('Status of the machine payment'),
    resolveMachinePayment: decision('Carry out the decision of an operator'),
    leaveOutcomeOpen: decision(
      'Record the outcome as unknown, since the merchant did not answer; the money stays held',
    ),
    endUnpaid: decision('End the payment as not paid: revoke the token and free the intent'),
    deleteNetworkToken: call('Delete the token at the processor'),
  })

/**
 * The request itself asks the merchant, mints and sends, once; this run never does. It takes over if the merchant does not
 * answer: the outcome is open until network, owner or operator report it, or until the deadline. The token of a payment
 * that was not paid is deleted.
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
    const { status, awaitsPerson, awaitsToken, deadline } = payment.state
    if (status === 'sent')
      await payment.waitFor(`the merchant’s answer, until ${deadline}`, { whenDue: leaveOutcomeOpen })
    else if (status === 'void')
      await payment.waitFor('the processor to delete the token', { whenDue: deleteNetworkToken })
    else if (awaitsPerson)
      await payment.waitFor(`a person to confirm it with the card’s issuer, until ${deadline}`, {
        whenDue: endUnpaid,
      })
    else if (awaitsToken)
      await payment.waitFor(`the processor’s token, until ${deadline}`, { whenDue: endUnpaid })
    else await payment.waitFor(`a report of whether it was paid, until ${deadline}`, { whenDue: endUnpaid })
  }
  return payment.state.status
}
