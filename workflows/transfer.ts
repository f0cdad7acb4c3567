import type { TransferActivities } from '../activities/transfers.ts'
import { recallProcess } from '../src/commerce/transfers/process.ts'
import type { ProcessInput } from '../src/kernel/contract/process.ts'
import { activities, call, decision, reading } from './shared/activities.ts'
import { follow } from './shared/record-run.ts'

/** Each is repeated until it succeeds, also where a worker dies on the way, and does nothing where nothing is left to do. */
const { readTransfer, decideTransfer, verifyPayee, cancelUnconfirmed, submitPayment, askRail } =
  activities<TransferActivities>({
    readTransfer: reading('Status of the transfer'),
    decideTransfer: decision('Carry out the signal of an operator'),
    verifyPayee: call('Ask the payee’s bank about the name'),
    cancelUnconfirmed: decision(
      'Cancel the transfer, whose payee was not confirmed in time, and release its money',
    ),
    submitPayment: call('Submit the payment to the rail, once'),
    askRail: call('Ask the rail for the outcome'),
  })

/**
 * The payee’s bank verifies the name, a person confirms a doubtful payee, the payment is submitted once, and the rail is asked
 * until it has ended. A recall asks for the money of a completed transfer, which opens it again.
 */
export async function transfer(ref: ProcessInput): Promise<string> {
  const record = await follow(ref, {
    process: recallProcess,
    read: readTransfer,
    decide: decideTransfer,
    signals: {
      confirmPayee: 'Pays although the name of the payee is doubtful.',
      cancel: 'Cancels an unsubmitted transfer and releases its hold.',
    },
  })
  while (!record.isOver) {
    const { payee, isSubmitted, isRecalled, deadline } = record.state
    if (isSubmitted) {
      const awaited = isRecalled ? 'the answer to the recall' : 'the rail to report the outcome'
      const what = payee === 'doubtful' ? `a person to confirm the payee, and for ${awaited}` : awaited
      await record.waitFor(`${what}; the next inquiry is at ${deadline}`, { whenDue: askRail })
    } else if (payee === 'unverified')
      await record.waitFor('the payee’s bank to verify the name', { whenDue: verifyPayee })
    else if (payee === 'doubtful')
      await record.waitFor(`a person to confirm the payee, until ${deadline}`, { whenDue: cancelUnconfirmed })
    else await record.take(submitPayment)
  }
  return record.state.status
}
