import type { TransferActivities } from '../activities/transfers.ts'
import { recallProcess } from '../src/commerce/transfers/process.ts'
import type { ProcessInput } from '../src/kernel/contract/process.ts'
import { activities, call, decision, reading } from './shared/activities.ts'
import { follow } from './shared/record-run.ts'

/** Each is repeated where a worker dies or PostgreSQL is away, finds out what was done before, and does only what is left. */
const { readTransfer, decideTransfer, verifyPayee, cancelUnconfirmed, submitPayment, askRail } =
  activities<TransferActivities>({
    readTransfer: reading('Status of the transfer'),
    decideTransfer: decision('Carry out the decision of an operator'),
    verifyPayee: call('Ask the payee’s bank about the name'),
    cancelUnconfirmed: decision(
      'Cancel the transfer, whose payee was not confirmed in time, and release its money',
    ),
    submitPayment: call('Submit the payment to the rail, once'),
    askRail: call('Ask the rail for the outcome, and submit again what it never got'),
  })

/**
 * The payee’s bank verifies the name, a person confirms a doubtful payee, and the payment is submitted once. If the rail does not
 * answer, the outcome is unknown, and the rail is asked until it is known; only a payment that the rail says it never got is
 * submitted again, by the same reference. A recall asks for the money of a completed transfer: it begins a run anew.
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
      // A rail may check the name itself, and report a doubtful payee after the submission.
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
