import type { TransferActivities } from '../activities/transfers.ts'
import { transferSignals } from '../src/commerce/transfers/process.ts'
import type { ProcessInput } from '../src/kernel/contract/process.ts'
import { followRecord } from './shared/follow-record.ts'
import { answersTo } from './shared/signals.ts'
import { stepsOf } from './shared/steps.ts'

const { readTransfer, decideTransfer, verifyPayee, cancelUnconfirmed, submitPayment, askRail } =
  stepsOf<TransferActivities>()({
    readTransfer: { summary: 'How the transfer stands' },
    decideTransfer: { summary: 'What an operator has signalled' },
    verifyPayee: { summary: 'Whether the payee’s bank knows the account under the name' },
    cancelUnconfirmed: {
      summary: 'Nobody has confirmed the payee in time: the transfer is cancelled, and its money is free',
    },
    submitPayment: { summary: 'The payment leaves, once' },
    askRail: { summary: 'Whether the rail knows how it ended' },
  })

/**
 * The payee’s bank is asked about the name, a person confirms where that is doubtful, the payment is submitted once, and
 * the rail is asked until it has ended. A transfer that is cancelled, rejected or returned gives its money back.
 */
export const transfer = (input: ProcessInput): Promise<string> =>
  followRecord(input, {
    recurs: true,
    read: readTransfer,
    answers: answersTo(transferSignals, signalled => decideTransfer({ ...input, ...signalled })),
    async story(record) {
      await record.during(
        ({ next }) => next === 'verify',
        () => verifyPayee(input),
      )
      await record.during(
        ({ next }) => next === 'lapse',
        () => cancelUnconfirmed(input),
      )
      await record.during(
        ({ next }) => next === 'submit',
        () => submitPayment(input),
      )
      await record.during(
        ({ next }) => next === 'inquire',
        () => askRail(input),
      )
    },
  })
