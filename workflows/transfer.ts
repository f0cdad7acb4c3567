import { proxyActivities } from '@temporalio/workflow'
import type { TransferActivities } from '../activities/transfers.ts'
import { transferSignals } from '../src/commerce/transfers/process.ts'
import type { ProcessInput } from '../src/kernel/contract/process.ts'
import { follow, signals } from './follow-record.ts'

const { lookAtTransfer, decideTransfer, verifyPayee, submitTransfer, askRail, letTransferLapse } =
  proxyActivities<TransferActivities>({
    startToCloseTimeout: 15_000,
    retry: { initialInterval: 200, maximumInterval: 30_000 },
  })

/** What a transfer by SEPA needs next, one after the other, until the rail has told how it ends. */
const steps = { verify: verifyPayee, submit: submitTransfer, inquire: askRail, lapse: letTransferLapse }

/** Its payee is verified, a person confirms where that must be, it is submitted once, and asked about until it ends. */
export const transfer = (input: ProcessInput): Promise<string> =>
  follow(input, {
    recurs: true,
    look: () => lookAtTransfer(input),
    due: async ({ next }) => next && steps[next](input),
    ...signals(transferSignals, asked => decideTransfer({ ...input, ...asked })),
  })
