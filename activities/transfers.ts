import type { TransferSignal } from '../src/commerce/transfers/process.ts'
import type { Look, ProcessInput } from '../src/kernel/contract/process.ts'
import { decideWith, type Signalled, type SignalSettings } from './signals.ts'
import { lookWith, type Run } from './support.ts'

/** How a transfer stands, and what is done with it when it is due. */
export interface TransferLook extends Look {
  readonly next: 'verify' | 'submit' | 'inquire' | 'lapse' | null
}

/** Each of them can be made again: what has been done is found done. */
export const transferActivities = (run: Run, settings: SignalSettings) => {
  const step = (operation: string) => async (input: ProcessInput) => {
    await run(operation, { of: input, as: 'process', requestId: requestOf(input) })
  }
  return {
    lookAtTransfer: (input: ProcessInput) =>
      lookWith<TransferLook>(run, 'transfers.look', input, requestOf(input)),

    decideTransfer: (signalled: Signalled<TransferSignal>): Promise<string> =>
      decideWith(run, settings, signalled, {
        operation: `transfers.${signalled.verb}`,
        requestId: requestOf(signalled),
        body: (_by, comment) => (comment ? { comment } : {}),
      }),

    verifyPayee: step('transfers.verify'),
    submitTransfer: step('transfers.submit'),
    askRail: step('transfers.inquire'),
    letTransferLapse: step('transfers.lapse'),
  }
}

export type TransferActivities = ReturnType<typeof transferActivities>

const requestOf = ({ id }: ProcessInput): string => `workflow:transfer/${id}`
