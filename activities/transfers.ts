import type { TransferSignal } from '../src/commerce/transfers/process.ts'
import type { ProcessInput, ProcessStatus } from '../src/kernel/contract/process.ts'
import { decideWith, type Signalled, type SignalSettings, withSignalsThatCount } from './signals.ts'
import { type Run, readWith } from './support.ts'

/** Status of a transfer, and the step that is taken when its time has come. */
export interface TransferStatus extends ProcessStatus {
  readonly next: 'verify' | 'submit' | 'inquire' | 'lapse' | null
}

/** Each of them can be made again: what has been done is found done. */
export const transferActivities = (run: Run, settings: SignalSettings) => {
  const step = (operation: string) => async (input: ProcessInput) => {
    await run(operation, { of: input, as: 'process', requestId: requestOf(input) })
  }
  const readTransfer = async (input: ProcessInput): Promise<TransferStatus> => {
    const status = await readWith<TransferStatus>(run, 'transfers.status', input, requestOf(input))
    return withSignalsThatCount(status, input, settings)
  }
  return {
    readTransfer,

    decideTransfer: (signalled: Signalled<TransferSignal>): Promise<string> =>
      decideWith(run, settings, signalled, {
        operation: `transfers.${signalled.verb}`,
        requestId: requestOf(signalled),
        body: (_by, comment) => (comment ? { comment } : {}),
      }),

    verifyPayee: step('transfers.verify'),
    cancelUnconfirmed: step('transfers.lapse'),
    submitPayment: step('transfers.submit'),
    askRail: step('transfers.inquire'),
  }
}

export type TransferActivities = ReturnType<typeof transferActivities>

const requestOf = ({ id }: ProcessInput): string => `workflow:transfer/${id}`
